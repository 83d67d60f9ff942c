import Pipeline

/// The connection on which a machine hears of invalidations and of the ends of leases.
final class FleetMessages: RedisReceiver {
    private struct State {
        var isConnected = false
        /// Whether the server was asked to end the connection.
        var isRenewed = false
        /// The listeners of each channel of a lease, by their numbers.
        var listeners: [String: [Int: LeaseListener]] = [:]
        /// The channels whose subscription the server has confirmed.
        var confirmed: Set<String> = []
        var commands: [[[UInt8]]] = []
        var lastNumber = 0
        /// Why the connection was lost, or a command refused, the last time.
        var failure: RedisFailure?
    }

    private let keys: FleetKeys
    /// The script that reads what was missed.
    private let missed = RedisScripts.adaptation(RedisScript.missed.source)
    private let heard: @Sendable () -> Int64
    private let changed: @Sendable (Change) -> Bool
    private let state = Lock(State())

    /// What the connection brings besides the ends of leases.
    enum Change: Sendable {
        /// Every invalidation arrives from now on, and these are those that came before.
        case listening(MissedInvalidations)
        /// A URL or a tag has become invalid.
        case invalidated(number: Int64, target: String)
        /// The server has refused a command; its reply.
        case refused(String)
        /// Invalidations may be missed from now on; why, unless the connection was given up on purpose.
        case lost(RedisFailure?)
    }

    /// - Parameters:
    ///   - heard: Returns the number of the last invalidation before which none was missed.
    ///   - changed: Receives changes on the connection's thread, in their order, and returns quickly. It returns whether
    ///     the connection has to be renewed.
    init(_ keys: FleetKeys, heard: @escaping @Sendable () -> Int64, changed: @escaping @Sendable (Change) -> Bool) {
        self.keys = keys
        self.heard = heard
        self.changed = changed
    }

    /// Lets the server end the connection, so that the next one asks again for what was missed.
    func renew() {
        state.withLock { state in
            guard state.isConnected, !state.isRenewed else { return }
            state.isRenewed = true
            state.commands.append(Self.command("QUIT", []))
        }
    }

    /// Why the connection was lost, or a command refused, the last time.
    var failure: RedisFailure? { state.withLock(\.failure) }

    /// Begins to listen on a channel.
    func listen(to channel: String) -> LeaseListener {
        let (listener, isConfirmed) = state.withLock { state in
            state.lastNumber += 1
            let listener = LeaseListener(channel, number: state.lastNumber)
            let isFirst = state.listeners[channel] == nil
            state.listeners[channel, default: [:]][listener.number] = listener
            if isFirst, state.isConnected { state.commands.append(Self.command("SUBSCRIBE", [channel])) }
            return (listener, state.confirmed.contains(channel))
        }
        if isConfirmed { listener.put(.confirmed) }
        return listener
    }

    /// Ends listening.
    func leave(_ listener: LeaseListener) {
        // The last reference to a listener is released outside the lock.
        _ = state.withLock { state -> LeaseListener? in
            let removed = state.listeners[listener.channel]?.removeValue(forKey: listener.number)
            guard state.listeners[listener.channel]?.isEmpty == true else { return removed }
            state.listeners[listener.channel] = nil
            state.confirmed.remove(listener.channel)
            if state.isConnected { state.commands.append(Self.command("UNSUBSCRIBE", [listener.channel])) }
            return removed
        }
    }

    /// What was missed is read in one step with the subscription, so that nothing comes in between, and on the same
    /// connection, so that nothing else has to work.
    func greeting() -> [[[UInt8]]] {
        [
            Self.command("MULTI", []), MissedInvalidations.command(keys, since: heard(), missed),
            Self.command("SUBSCRIBE", [keys.invalidations]), Self.command("EXEC", []),
        ]
    }

    func connected(_ reply: RedisValue) throws(RedisFailure) {
        let replies = reply.array ?? []
        if case .error(let text)? = replies.first { throw .refused(text) }
        guard let missed = replies.first.flatMap({ MissedInvalidations($0) }) else {
            throw .refused("it sent an unexpected reply")
        }
        state.withLock { state in
            state.isConnected = true
            state.commands = state.listeners.isEmpty ? [] : [Self.command("SUBSCRIBE", Array(state.listeners.keys))]
        }
        if changed(.listening(missed)) { renew() }
    }

    func takeCommands() -> [[[UInt8]]] {
        state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    func lost(_ failure: RedisFailure) {
        let isMeant = state.withLock { state in
            state.failure = failure
            defer { state.isRenewed = false }
            return state.isRenewed
        }
        _ = changed(.lost(isMeant ? nil : failure))
        let listeners = state.withLock { state in
            state.isConnected = false
            (state.confirmed, state.commands) = ([], [])
            return state.listeners.values.flatMap(\.values)
        }
        for listener in listeners { listener.put(.lost) }
    }

    func received(_ value: RedisValue) {
        if case .error(let text) = value { return refused(text) }
        guard let parts = value.array, parts.count == 3, let kind = parts[0].text, let channel = parts[1].text else {
            return
        }
        switch (kind, channel == keys.invalidations) {
        case ("subscribe", false):
            let listeners = state.withLock { state -> [LeaseListener] in
                guard let listeners = state.listeners[channel] else { return [] }
                state.confirmed.insert(channel)
                return Array(listeners.values)
            }
            for listener in listeners { listener.put(.confirmed) }
        case ("message", true):
            let text = parts[2].text ?? ""
            guard let space = text.firstIndex(of: " "), let number = RedisValue.integer(in: text[..<space]) else {
                return
            }
            _ = changed(.invalidated(number: number, target: String(text[text.index(after: space)...])))
        case ("message", false):
            let outcome = parts[2].text.flatMap { LeaseOutcome(rawValue: $0) } ?? .notShared
            let listeners = state.withLock { $0.listeners[channel].map { Array($0.values) } ?? [] }
            for listener in listeners { listener.put(.ended(outcome)) }
        default: break
        }
    }

    /// The server has refused a command, such as to listen on a channel. Nobody waits for that.
    private func refused(_ text: String) {
        let listeners = state.withLock { state in
            state.failure = .refused(text)
            return state.listeners.filter { !state.confirmed.contains($0.key) }.flatMap(\.value.values)
        }
        _ = changed(.refused(text))
        for listener in listeners { listener.put(.lost) }
    }

    private static func command(_ name: String, _ channels: [String]) -> [[UInt8]] {
        ([name] + channels).map { Array($0.utf8) }
    }
}

import Pipeline

/// The connection on which a machine hears of invalidations and of the ends of leases.
final class FleetMessages: RedisReceiver {
    private struct State {
        var isConnected = false
        /// The listeners of each channel of a lease, by their numbers.
        var listeners: [String: [Int: LeaseListener]] = [:]
        /// The channels whose subscription the server has confirmed.
        var confirmed: Set<String> = []
        var commands: [[[UInt8]]] = []
        var lastNumber = 0
    }

    private let invalidations: String
    private let state = Lock(State())
    private let changed: @Sendable (Change) -> Void

    /// What the connection brings besides the ends of leases.
    enum Change: Sendable {
        /// Messages arrive from now on; earlier ones may be lost.
        case connected
        /// A URL or a tag has become invalid.
        case invalidated(number: Int64, target: String)
    }

    /// - Parameters:
    ///   - invalidations: The channel of invalidations.
    ///   - changed: Receives changes on the connection's thread, and returns quickly.
    init(invalidations: String, changed: @escaping @Sendable (Change) -> Void) {
        self.invalidations = invalidations
        self.changed = changed
    }

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

    func connected() {
        state.withLock { state in
            state.isConnected = true
            state.commands = [Self.command("SUBSCRIBE", [invalidations] + state.listeners.keys)]
        }
    }

    func takeCommands() -> [[[UInt8]]] {
        state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    func lost() {
        let listeners = state.withLock { state in
            state.isConnected = false
            (state.confirmed, state.commands) = ([], [])
            return state.listeners.values.flatMap(\.values)
        }
        for listener in listeners { listener.put(.lost) }
    }

    func received(_ value: RedisValue) {
        guard let parts = value.array, parts.count == 3, let kind = parts[0].text, let channel = parts[1].text else {
            return
        }
        switch (kind, channel == invalidations) {
        case ("subscribe", true): changed(.connected)
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
            changed(.invalidated(number: number, target: String(text[text.index(after: space)...])))
        case ("message", false):
            let outcome = parts[2].text.flatMap { LeaseOutcome(rawValue: $0) } ?? .notShared
            let listeners = state.withLock { $0.listeners[channel].map { Array($0.values) } ?? [] }
            for listener in listeners { listener.put(.ended(outcome)) }
        default: break
        }
    }

    private static func command(_ name: String, _ channels: [String]) -> [[UInt8]] {
        ([name] + channels).map { Array($0.utf8) }
    }
}

import CHiredis
import LibC
import Pipeline

/// What a connection is for.
enum RedisRole: Sendable {
    /// Requests, each of which has one reply.
    case requests
    /// Messages of channels.
    case messages(any RedisReceiver)
}

/// Receives what a connection for messages brings, on its thread.
protocol RedisReceiver: Sendable {
    /// Returns what a new connection sends once it has signed in.
    func greeting() -> [[[UInt8]]]
    /// The connection is ready, again or for the first time.
    /// - Parameter reply: That to the last command of the greeting.
    /// - Throws: ``RedisFailure`` if it isn't the reply that was asked for. Then the connection is lost.
    func connected(_ reply: RedisValue) throws(RedisFailure)
    /// Returns the commands to send, in their order. It is asked whenever the thread is woken.
    func takeCommands() -> [[[UInt8]]]
    /// There is no connection, or it is lost, and with it perhaps messages.
    func lost(_ failure: RedisFailure)
    /// A message or a confirmation has arrived.
    func received(_ value: RedisValue)
}

/// The loop of a connection's thread: connects, signs in, writes requests as they come, and gives each its reply. Only
/// that thread touches it.
final class RedisLoop {
    private let address: RedisAddress
    private let limits: RedisLimits
    private let role: RedisRole
    private let probe: [String]
    private let thread: RedisThread
    private let report: @Sendable (RedisState) -> Void
    private let clock = SystemClock()

    /// How far the connection has come. Until it is ready it has a deadline.
    private enum Phase {
        case idle
        /// The host's addresses are looked up.
        case resolving(RedisResolver, until: Int64)
        case connecting(RedisLink, until: Int64)
        /// The server has yet to reply to as many of the client's own commands. That some are refused doesn't matter.
        case signingIn(RedisLink, replies: Int, optional: Set<Int>, until: Int64)
        /// The server has accepted this client. A connection for messages notes when it last heard of the server, and
        /// whether it has asked since.
        case ready(RedisLink, heardAt: Int64, hasAsked: Bool)

        var link: RedisLink? {
            switch self {
            case .idle, .resolving: nil
            case .connecting(let link, _), .signingIn(let link, _, _, _), .ready(let link, _, _): link
            }
        }

        var deadline: Int64 {
            switch self {
            case .idle, .ready: .max
            case .resolving(_, let until), .connecting(_, let until), .signingIn(_, _, _, let until): until
            }
        }
    }

    private var phase = Phase.idle
    private var breaker = Breaker()
    /// How many connections were tried: one address of the host after the other.
    private var attempts = 0
    /// Whether one of them was ready.
    private var hasWorked = false
    /// Requests for which there is no connection yet.
    private var waiting: [RedisRequest] = []
    /// Requests in the order of their replies; `nil` for one that has timed out, whose reply may still come.
    private var sent: Queue<RedisRequest?> = []
    private var nextDeadline: Int64 = .max
    /// The longest time that a reply took since the last report, in nanoseconds, and since when that is measured.
    private var slowest: Int64 = 0
    private var measuredFrom: Int64?

    init(
        _ address: RedisAddress, _ limits: RedisLimits, _ role: RedisRole, _ probe: [String], _ thread: RedisThread,
        report: @escaping @Sendable (RedisState) -> Void
    ) {
        self.address = address
        self.limits = limits
        self.role = role
        self.probe = probe
        self.thread = thread
        self.report = report
    }

    /// Works until the thread is stopped.
    func run(wakeup: EventDescriptor) {
        while let requests = thread.takeRequests() {
            for request in requests { take(request) }
            do throws(RedisFailure) {
                try connectIfNeeded()
                if case .ready(let link, _, _) = phase, case .messages(let receiver) = role {
                    for command in receiver.takeCommands() { link.append(command) }
                }
                try phase.link?.flush()
                try check(at: clock.uptimeNanoseconds)
                let events = wait(wakeup)
                if events != 0 { try proceed(events) }
            } catch {
                lose(error)
            }
        }
        lose(.unreachable("the connection was closed"), isMeant: true)
    }

    private var isForMessages: Bool { if case .messages = role { true } else { false } }

    private func take(_ request: RedisRequest) {
        if breaker.isOpen { return request.end(.failure(RedisFailure.paused)) }
        nextDeadline = min(nextDeadline, request.deadline)
        guard case .ready(let link, _, _) = phase else { return waiting.append(request) }
        link.append(request.arguments)
        sent.append(request)
    }

    private func connectIfNeeded() throws(RedisFailure) {
        let now = clock.uptimeNanoseconds
        let isWanted = breaker.isOpen ? breaker.isHalfOpen(at: now) : !waiting.isEmpty || isForMessages
        guard phase.link == nil, isWanted else { return }
        // Sentinels are asked first, which may take as long again.
        let limit = if case .primary = address.endpoint { limits.connecting * 2 } else { limits.connecting }
        let until = phase.deadline == .max ? now + limit.nanoseconds : phase.deadline
        guard let search else {
            phase = .connecting(try link(to: address.endpoint, host: address.endpoint.host), until: until)
            return
        }
        guard case .resolving(let resolver, _) = phase else {
            attempts += 1
            phase = .resolving(try RedisResolver(search) { [thread] in thread.wake() }, until: until)
            return
        }
        guard let target = try resolver.target else { return }
        let endpoint = target.endpoints[(attempts - 1) % target.endpoints.count]
        phase = .connecting(try link(to: endpoint, host: target.host), until: until)
    }

    private func link(to endpoint: RedisAddress.Endpoint, host: String) throws(RedisFailure) -> RedisLink {
        try RedisLink(endpoint, address.tls, host: host, isProven: hasWorked)
    }

    /// Finds the server, where its address isn't enough to connect.
    private var search: (@Sendable () throws(RedisFailure) -> RedisTarget)? {
        let (endpoint, tls, attempts, limit) = (address.endpoint, address.tls, attempts, limits.connecting)
        switch endpoint {
        case .socket: return nil
        case .host(let host, _) where RedisResolver.isAddress(host): return nil
        case .host: return { () throws(RedisFailure) in try RedisTarget(of: endpoint) }
        case .primary(let sentinels):
            return { () throws(RedisFailure) in
                try RedisTarget(of: sentinels.address(tls, from: attempts, within: limit))
            }
        }
    }

    private func signIn(_ link: RedisLink) throws(RedisFailure) {
        var commands: [[String]] = []
        if let password = try address.currentPassword() {
            commands.append(["AUTH"] + [address.user, password].compactMap(\.self))
        }
        if address.database != 0 { commands.append(["SELECT", String(address.database)]) }
        let needed = commands.count
        commands += [["CLIENT", "SETNAME", address.nameOfClient], probe].filter { !$0.isEmpty }
        // A sentinel may not know yet that this is no longer the primary.
        if case .primary = address.endpoint { commands.append(["ROLE"]) }
        let optional = needed..<commands.count
        commands.append(["PING"])
        var bytes = commands.map { $0.map { Array($0.utf8) } }
        var until = phase.deadline
        if case .messages(let receiver) = role {
            bytes += receiver.greeting()
            until += Self.greetingTime
        }
        for command in bytes { link.append(command) }
        phase = .signingIn(link, replies: bytes.count, optional: Set(optional.map { bytes.count - $0 }), until: until)
    }

    /// How much longer a connection for messages may take than one for requests: its greeting may have a long reply.
    private static let greetingTime: Int64 = 5_000_000_000

    private func proceed(_ events: Int16) throws(RedisFailure) {
        guard let link = phase.link else { return }
        let wasConnected = link.isConnected
        try link.proceed(events)
        if link.isConnected, !wasConnected {
            try signIn(link)
            try link.flush()
        }
        while let reply = try link.nextReply() { try take(reply) }
    }

    private func take(_ reply: RedisValue) throws(RedisFailure) {
        switch phase {
        case .idle, .resolving, .connecting: break
        case .signingIn(let link, let replies, let optional, let until):
            if case .error(let text) = reply {
                let failure = RedisFailure.refused(text)
                if failure.isNotPrimary || !optional.contains(replies) { throw failure }
            }
            if optional.contains(replies), reply.array?.first?.text == "slave" {
                throw .refused("READONLY it is a replica")
            }
            guard replies > 1 else { return try beReady(link, reply) }
            phase = .signingIn(link, replies: replies - 1, optional: optional, until: until)
        case .ready(let link, _, _):
            phase = .ready(link, heardAt: clock.uptimeNanoseconds, hasAsked: false)
            if case .messages(let receiver) = role {
                receiver.received(reply)
            } else if let request = sent.popFirst() {
                if breaker.succeed() { report(.restored) }
                if let request { note(replyTo: request) }
                request?.end(.success(reply))
                guard case .error(let text) = reply else { return }
                let failure = RedisFailure.refused(text)
                // The script is sent then.
                if !failure.isUnknownScript, request?.isOptional != true { report(.refused(text)) }
                if failure.isNotPrimary { throw failure }
            }
        }
    }

    /// Reports the slowest reply once a second, as long as there are replies.
    private func note(replyTo request: RedisRequest) {
        let now = clock.uptimeNanoseconds
        slowest = max(slowest, now - request.begun)
        guard let begun = measuredFrom else { return measuredFrom = now }
        guard now - begun >= 1_000_000_000 else { return }
        report(.replied(.nanoseconds(slowest)))
        (slowest, measuredFrom) = (0, now)
    }

    private func beReady(_ link: RedisLink, _ reply: RedisValue) throws(RedisFailure) {
        if case .messages(let receiver) = role { try receiver.connected(reply) }
        phase = .ready(link, heardAt: clock.uptimeNanoseconds, hasAsked: false)
        hasWorked = true
        let wasOpen = breaker.succeed()
        thread.pause(false)
        for request in waiting { take(request) }
        waiting = []
        if wasOpen { report(.restored) }
    }

    /// Fails requests whose deadline has passed.
    private func check(at now: Int64) throws(RedisFailure) {
        if now >= phase.deadline { throw timeOut }
        if isForMessages, case .ready(let link, let heardAt, let hasAsked) = phase {
            if now - heardAt >= 3 * Self.silence { throw .timedOut }
            if !hasAsked, now - heardAt >= Self.silence {
                link.append([Array("PING".utf8)])
                phase = .ready(link, heardAt: heardAt, hasAsked: true)
                try link.flush()
            }
        }
        guard now >= nextDeadline else { return }
        var isFailed = false
        nextDeadline = .max
        for index in sent.indices {
            guard let request = sent[index] else { continue }
            guard request.deadline <= now else {
                nextDeadline = min(nextDeadline, request.deadline)
                continue
            }
            request.end(.failure(RedisFailure.timedOut))
            sent[index] = nil
            isFailed = breaker.fail(at: now, isFinal: false) || isFailed
        }
        for request in waiting where request.deadline <= now { request.end(.failure(timeOut)) }
        waiting.removeAll { $0.deadline <= now }
        nextDeadline = waiting.reduce(nextDeadline) { min($0, $1.deadline) }
        guard isFailed else { return }
        close(.timedOut)
        open(.timedOut)
    }

    /// The failure of what waits for the connection for too long.
    private var timeOut: RedisFailure {
        phase.link?.timeOut ?? .timedOut
    }

    /// How long a connection for messages waits before it asks whether the server is there.
    private static let silence: Int64 = 1_000_000_000

    /// Waits for the socket, for a request, or until the next moment at which something is due.
    /// - Returns: The socket's events.
    private func wait(_ wakeup: EventDescriptor) -> Int16 {
        var polled = [pollfd(fd: wakeup.number, events: Int16(POLLIN), revents: 0)]
        if let link = phase.link { polled.append(pollfd(fd: link.descriptor, events: link.events, revents: 0)) }
        var due = min(nextDeadline, phase.deadline)
        if case .idle = phase, let probe = breaker.probesAt { due = min(due, probe) }
        if isForMessages, case .ready(_, let heardAt, let hasAsked) = phase {
            due = min(due, heardAt + (hasAsked ? 3 : 1) * Self.silence)
        }
        let left = due == .max ? -1 : Int32(clamping: max(0, (due - clock.uptimeNanoseconds) / 1_000_000 + 1))
        poll(&polled, nfds_t(polled.count), left)
        if polled[0].revents != 0 { wakeup.clear() }
        return polled.count > 1 ? polled[1].revents : 0
    }

    /// Ends the connection after a failure.
    /// - Parameter isMeant: Whether it was closed by the program.
    private func lose(_ failure: RedisFailure, isMeant: Bool = false) {
        let wasReady = if case .ready = phase { true } else { false }
        close(failure)
        guard !isMeant else { return }
        // One that worked is tried again at once, unless it leads to no primary.
        let isFinal = !wasReady || failure.isNotPrimary
        if breaker.fail(at: clock.uptimeNanoseconds, isFinal: isFinal) { open(failure) }
    }

    private func open(_ failure: RedisFailure) {
        thread.pause(true)
        report(.lost(failure))
    }

    private func close(_ failure: RedisFailure) {
        phase = .idle
        let left = sent.compactMap(\.self) + waiting
        (sent, waiting, nextDeadline) = ([], [], .max)
        for request in left { request.end(.failure(failure)) }
        if case .messages(let receiver) = role { receiver.lost(failure) }
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped.
    var nanoseconds: Int64 {
        Int64(clamping: Int128(components.seconds) * 1_000_000_000 + Int128(components.attoseconds / 1_000_000_000))
    }
}

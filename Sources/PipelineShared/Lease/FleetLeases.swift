import Pipeline
import PipelineHTTP

/// What the script that grants leases replies.
enum GrantReply: Hashable {
    /// The number of the grant.
    case granted(Int64)
    /// Another holds it, for this long if it isn't renewed.
    case held(Duration)

    /// Reads the reply; `nil` if it is another's.
    init?(_ reply: RedisValue) {
        guard let values = reply.array, values.count == 2, let number = values[0].integer, let rest = values[1].integer
        else { return nil }
        self = number > 0 ? .granted(number) : .held(.milliseconds(max(1, rest + 1)))
    }
}

/// Takes, renews and ends leases in Redis, and waits for those of other machines.
final class FleetLeases: FetchLeases {
    /// How long a lease lives without being renewed.
    let lifetime: Duration

    private let store: RedisStore
    private let messages: FleetMessages
    private let messenger: RedisConnection
    let clock: any LoadClock

    init(
        of store: RedisStore, messages: FleetMessages, messenger: RedisConnection, lifetime: Duration,
        clock: any LoadClock
    ) {
        self.store = store
        self.messages = messages
        self.messenger = messenger
        self.lifetime = lifetime
        self.clock = clock
    }

    private var scripts: RedisScripts { store.scripts }
    private var keys: FleetKeys { store.keys }
    private var reports: FleetReports { store.reports }

    /// Redis refuses the commit of a load whose lease has ended.
    var isFencing: Bool { true }

    /// Waits until a load gets a lease, or needs none.
    ///
    /// A waiter subscribes first, then looks again, and only then waits: whatever the holder does in between, the waiter
    /// has seen it or will hear of it. A lease that isn't renewed ends by itself, and then the next waiter gets it. A
    /// waiter also asks for the lease each second, and so finds out that Redis has failed and no message will come.
    /// - Parameters:
    ///   - name: The lease's name.
    ///   - patience: How long to wait for holders in all.
    ///   - look: Looks in the shared tier; returns whether the load has what it wants.
    /// - Throws: `CancellationError` at once when the task is cancelled, and the errors of `look`.
    func turn(
        _ name: String, patience: Duration, look: () async throws -> Bool
    ) async throws -> FetchTurn {
        var listener: LeaseListener?
        defer { if let listener { leave(listener) } }
        let start = clock.uptime
        var hasWaited = false
        defer { if hasWaited { reports.report(.waited(clock.uptime - start)) } }
        while true {
            switch try await acquire(name) {
            case nil: return .alone
            case .granted(let hold):
                // Another may have stored it between this load's lookup and the grant.
                do {
                    guard try await look() else { return .hold(hold) }
                } catch {
                    await hold.end(isStored: false)
                    throw error
                }
                await hold.end(.stored)
                return .found
            case .held(let rest):
                hasWaited = true
                guard let current = listener else {
                    let new = listen(to: name)
                    listener = new
                    guard !messenger.isPaused, try await isConfirmed(new) else { return .alone }
                    if try await look() { return .found }
                    continue
                }
                let left = patience - (clock.uptime - start)
                guard left > .zero else { return .alone }
                switch try await current.next(within: min(rest, left, .seconds(1)), by: clock) {
                case .ended(.stored): if try await look() { return .found }
                case .ended(.notShared): return .alone
                // The lease may be free now.
                case .confirmed, .lost, nil: break
                }
            }
        }
    }

    private func isConfirmed(_ listener: LeaseListener) async throws -> Bool {
        switch try await listener.next(within: .seconds(1), by: clock) {
        // An end before the confirmation is heard again by looking.
        case .confirmed, .ended: true
        case .lost, nil: false
        }
    }

    func listen(to name: String) -> LeaseListener {
        defer { messenger.begin() }
        return messages.listen(to: keys.outcomes(name))
    }

    func leave(_ listener: LeaseListener) {
        messages.leave(listener)
        messenger.begin()
    }

    /// Why no message comes.
    var whyDeaf: RedisFailure { messages.failure ?? .timedOut }

    enum Grant {
        case granted(FleetHold)
        /// Another holds it, for this long if it isn't renewed.
        case held(Duration)
    }

    /// - Returns: `nil` if Redis failed.
    func acquire(_ name: String) async throws -> Grant? {
        let reply: RedisValue
        let mark = String(UInt64.random(in: 0 ... .max), radix: 36)
        do {
            reply = try await scripts.run(
                .acquire, keys: [keys.lease(name), keys.counter],
                [RedisStore.digits(lifetime.nanoseconds / 1_000_000), Array(mark.utf8)])
        } catch let error as CancellationError {
            throw error
        } catch {
            if (error as? RedisFailure)?.isFull == true { reports.write(isFull: true) }
            return nil
        }
        switch GrantReply(reply) {
        case nil: return nil
        case .held(let rest): return .held(rest)
        case .granted(let number):
            reports.report(.leased)
            return .granted(FleetHold(FleetLeaseToken(name: name, number: number, mark: mark), of: store, self))
        }
    }

    /// Prolongs a lease until the task is cancelled or the lease is lost. A failure isn't the lease's end: the next
    /// attempt may succeed in time.
    func renew(_ token: FleetLeaseToken) async {
        while (try? await clock.sleep(untilLimit: lifetime / 3)) != nil {
            let reply = try? await scripts.run(
                .renew, keys: [keys.lease(token.name)],
                [token.value, RedisStore.digits(lifetime.nanoseconds / 1_000_000)])
            if reply?.integer == 0 { return }
        }
    }

    /// Ends a lease, unless it has ended, and tells the waiters.
    func release(_ token: FleetLeaseToken, _ outcome: LeaseOutcome) async {
        // In a task of its own, since the load may be cancelled.
        await Task {
            _ = try? await scripts.run(
                .release, keys: [keys.lease(token.name)],
                [token.value, Array(keys.outcomes(token.name).utf8), Array(outcome.rawValue.utf8)])
        }.value
    }
}

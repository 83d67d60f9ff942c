import Essentials
import Pipeline
import PipelineHTTP

/// Tries what a member does, and says what to change.
extension Fleet {
    /// What was tried: how it went, and what to change.
    package typealias Trial = (state: String, isWell: Bool)

    /// Tries each command that a member sends, on keys that nothing else uses. So it needs no right to ask for rights.
    /// - Throws: `LoadError` if the server fails; `CancellationError` if the task is cancelled.
    package func tryRights() async throws -> Trial {
        let keys = store.keys
        var refusals: [Refusal] = []
        func attempt(_ ask: () async throws -> RedisValue) async throws -> RedisValue? {
            do { return try await ask() } catch RedisFailure.refused(let why) {
                refusals.append(Refusal(command: nil, why: why))
                return nil
            } catch let failure as RedisFailure {
                throw error(failure)
            }
        }
        let reply = try await attempt {
            try await store.scripts.run(
                .trial, keys: ["s", "h", "z"].map { keys.prefix + "trial:" + $0 }, [Array(keys.invalidations.utf8)])
        }
        for text in (reply?.array ?? []).compactMap(\.text) {
            let words = text.split(separator: " ", maxSplits: 1).map(String.init)
            if words.count == 2 { refusals.append(Refusal(command: words[0].lowercased(), why: words[1])) }
        }
        // Scripts can't send these.
        _ = try await attempt { try await connection.ask("CLIENT", "SETNAME", connection.address.nameOfClient) }
        _ = try await attempt { try await connection.ask("UNSUBSCRIBE", keys.invalidations) }
        guard !refusals.isEmpty else { return ("all that a member needs", true) }
        return (Self.advice(on: refusals, keys, user: connection.address.user), false)
    }

    /// A command that the server refused; its name, if the error doesn't have it.
    private struct Refusal {
        let command: String?
        let why: String

        /// The right that is missing; `nil` if it isn't about rights.
        func right(_ keys: FleetKeys) -> String? {
            // `NOPERM this user has no permissions to run the 'ping' command`, or a script's words for that.
            if why.contains(" run ") {
                let parts = why.split(separator: "'", omittingEmptySubsequences: false)
                return "+" + (command ?? (parts.count == 3 ? String(parts[1]) : "@all"))
            }
            if why.contains("channel") { return "&\(keys.namespace):*" }
            return why.contains(" key") ? "~\(keys.namespace):*" : nil
        }
    }

    /// What to change so that nothing is refused.
    private static func advice(on refusals: [Refusal], _ keys: FleetKeys, user: String?) -> String {
        var (rights, others) = ([String](), [String]())
        for refusal in refusals {
            if let right = refusal.right(keys) {
                if !rights.contains(right) { rights.append(right) }
            } else {
                others.append("\(refusal.command.map { "\($0): " } ?? "")\(printable(refusal.why))")
            }
        }
        let grant = "run ACL SETUSER \(printable(user ?? "default")) \(printable(rights.joined(separator: " ")))"
        return "some are missing: " + ((rights.isEmpty ? [] : [grant]) + others).joined(separator: "; ")
    }

    /// Listens to a channel, sends a message there and waits for it, as a load does that waits for another machine.
    /// - Throws: `CancellationError` if the task is cancelled.
    package func tryMessages() async throws -> Trial {
        do {
            let time = try await leases.hearItself(within: .seconds(2))
            return ("it hears what it publishes, within \(time.nanoseconds / 1_000_000 + 1) ms", true)
        } catch let failure as RedisFailure {
            let user = printable(connection.address.user ?? "default")
            return (
                "it doesn't hear what it publishes: \(failure); run ACL SETUSER \(user) +multi +eval +subscribe +exec "
                    + "+publish &\(printable(store.keys.namespace)):*", false
            )
        }
    }

    /// When the server saves snapshots; empty for never, `nil` if this user may not ask. Managed servers tell nobody.
    package func snapshots() async -> String? { try? await connection.ask("CONFIG", "GET", "save").array?.last?.text }

    /// Compares the server's clock with this machine's.
    /// - Throws: `LoadError` if the server fails; `CancellationError` if the task is cancelled.
    package func tryClock() async throws -> Trial {
        let before = clock.now
        let reply: RedisValue
        do { reply = try await connection.ask("TIME") } catch let failure as RedisFailure { throw error(failure) }
        let after = clock.now
        guard let values = reply.array, values.count == 2, let whole = values[0].text.flatMap({ Double($0) }),
            let microseconds = values[1].text.flatMap({ Double($0) })
        else { return ("the server's reply to TIME can't be read", false) }
        let server = whole + microseconds / 1e6
        let (first, last) = (before.timeIntervalSince1970, after.timeIntervalSince1970)
        // The reply took this long, at some moment of which the server looked.
        let difference = server < first ? server - first : server > last ? server - last : 0
        let seconds = (abs(difference) * 10).rounded() / 10
        let apart = "the server's is \(seconds) s \(difference < 0 ? "behind" : "ahead of") this machine's"
        return switch abs(difference) {
        case ...1: ("the server's agrees with this machine's", true)
        case ...2: ("\(apart); let NTP set both", true)
        default: ("\(apart), and images expire too early or too late; let NTP set both", false)
        }
    }
}

extension FleetLeases {
    /// Takes a lease that nobody wants, ends it, and waits for the message about that.
    /// - Returns: How long the message took.
    /// - Throws: ``RedisFailure``; `CancellationError` at once if the task is cancelled.
    fileprivate func hearItself(within limit: Duration) async throws -> Duration {
        let name = "trial" + String(UInt64.random(in: 0 ... .max), radix: 36)
        let listener = listen(to: name)
        defer { leave(listener) }
        guard case .confirmed? = try await listener.next(within: limit, by: clock) else { throw whyDeaf }
        guard case .granted(let hold)? = try await acquire(name) else {
            throw RedisFailure.refused("it grants no lease")
        }
        let start = clock.uptime
        await hold.end(isStored: false)
        guard case .ended? = try await listener.next(within: limit, by: clock) else { throw whyDeaf }
        return clock.uptime - start
    }
}

extension RedisScript {
    /// Sends each command that scripts and stores send. `KEYS`: a text, a hash and a sorted set of its own. `ARGV`: the
    /// channel of invalidations, where an empty message is ignored. Returns those that were refused, each with the error.
    static let trial = RedisScript(
        "trial",
        source: """
            local text, hash, set = KEYS[1], KEYS[2], KEYS[3]
            local refused = {}
            for _, command in ipairs({
                {'SET', text, '1', 'PX', '1000'}, {'GET', text}, {'MGET', text}, {'EXISTS', text}, {'PTTL', text},
                {'HSET', hash, 'a', '1'}, {'PEXPIRE', hash, '1000'}, {'HGET', hash, 'a'}, {'HMGET', hash, 'a'},
                {'HEXISTS', hash, 'a'}, {'HINCRBY', hash, 'a', '1'}, {'HDEL', hash, 'b'},
                {'ZADD', set, '1', 'a'}, {'PEXPIRE', set, '1000'}, {'ZCARD', set}, {'ZRANDMEMBER', set, '1'},
                {'ZRANGEBYSCORE', set, '0', '0'}, {'ZREVRANGEBYSCORE', set, '0', '0'}, {'ZREVRANGE', set, '0', '0'},
                {'ZREMRANGEBYSCORE', set, '0', '0'}, {'ZREM', set, 'b'}, {'TIME'}, {'PUBLISH', ARGV[1], ''},
                {'DEL', text}, {'SADD', text, 'a'}, {'PEXPIRE', text, '1000'}, {'SMEMBERS', text},
                {'UNLINK', text, hash, set},
            }) do
                local reply = redis.pcall(unpack(command))
                local why = type(reply) == 'table' and reply.err
                if why and string.sub(why, 1, 3) ~= 'OOM' then refused[#refused + 1] = command[1] .. ' ' .. why end
            end
            return refused
            """)
}

import Pipeline

/// The invalidations that a machine may have missed while it wasn't connected.
struct MissedInvalidations: Sendable {
    /// Differs from before if the server has lost its data.
    let data: String
    /// Whether none is left out since there were too many or they are too long ago.
    let isComplete: Bool
    /// The numbers and targets, in their order.
    let targets: [(number: Int64, target: String)]
    /// The number until which none is missing.
    let until: Int64
}

extension MissedInvalidations {
    /// Reads the reply of the script; `nil` if it is another's.
    init?(_ reply: RedisValue, since seen: Int64) {
        guard let values = reply.array, values.count == 4, let data = values[0].text, let count = values[1].integer,
            let now = values[2].integer, let members = values[3].array
        else { return nil }
        let targets = stride(from: 0, to: members.count - 1, by: 2).compactMap { index -> (Int64, String)? in
            guard let target = members[index].text, let number = members[index + 1].integer else { return nil }
            return (number, target)
        }
        let isTrimmed = count >= FleetMembers.mostNoted && targets.count == count
        self.init(
            data: data, isComplete: !isTrimmed && now - seen < FleetMembers.noteTime, targets: targets, until: now)
    }
}

extension RedisScript {
    /// Returns noted invalidations. `KEYS`: counter, log, the name of the data. `ARGV`: the last seen number.
    static let missed = RedisScript(
        "missed", using: numbers,
        source: """
            local now = number(KEYS[1])
            local data = redis.call('GET', KEYS[3])
            if not data then
                data = text(now)
                redis.call('SET', KEYS[3], data)
            end
            local members = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf', 'WITHSCORES')
            return {data, redis.call('ZCARD', KEYS[2]), now, members}
            """)
}

extension RedisStore {
    /// Returns the invalidations after a number.
    /// - Throws: ``RedisFailure``; `CancellationError` if the task is cancelled.
    func missed(since seen: Int64) async throws -> MissedInvalidations {
        let reply = try await scripts.run(
            .missed, keys: [keys.counter, keys.log, keys.data], [Self.digits(seen)], within: .seconds(5))
        guard let missed = MissedInvalidations(reply, since: seen) else {
            throw RedisFailure.refused("it sent an unexpected reply")
        }
        return missed
    }
}

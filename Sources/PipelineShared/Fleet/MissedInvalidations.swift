import Pipeline

/// The invalidations that a machine may have missed while it wasn't connected.
struct MissedInvalidations: Sendable {
    /// Differs from before if the server has lost its data.
    let data: String
    /// The number since which none is left out. It is the server's time in microseconds, so what was stored or confirmed
    /// later is nothing that those left out were about.
    let known: Int64
    /// The number after which these are.
    let since: Int64
    /// The numbers and targets, in their order.
    let targets: [(number: Int64, target: String)]
    /// The number until which none is missing.
    let until: Int64
}

extension MissedInvalidations {
    /// Reads the reply of the script; `nil` if it is another's.
    init?(_ reply: RedisValue) {
        guard let values = reply.array, values.count == 5, let data = values[0].text, let known = values[1].integer,
            let since = values[2].integer, let until = values[3].integer, let members = values[4].array
        else { return nil }
        let targets = stride(from: 0, to: members.count - 1, by: 2).compactMap { index -> (Int64, String)? in
            guard let target = members[index].text, let number = members[index + 1].integer else { return nil }
            return (number, target)
        }
        self.init(data: data, known: known, since: since, targets: targets, until: until)
    }

    /// The most invalidations that Redis notes, and for how long, in microseconds.
    static let mostNoted = 10_000
    static let noteTime: Int64 = 86_400_000_000

    /// The command that reads those after a number. It carries the whole script, since it is sent seldom, and in a
    /// transaction, where an unknown digest couldn't be replaced.
    static func command(_ keys: FleetKeys, since number: Int64, _ script: String) -> [[UInt8]] {
        ["EVAL", script, "3", keys.counter, keys.log, keys.noted, String(number)].map {
            Array($0.utf8)
        }
    }
}

extension RedisScript {
    /// Returns noted invalidations. `KEYS`: counter, log, what is known of them. `ARGV`: the last number that was heard.
    ///
    /// If Redis has evicted the log, the count differs, and what was in it is unknown. It works in a server that has no
    /// memory left for writes.
    static let missed = RedisScript(
        "missed", using: numbers,
        source: """
            local now = coming(KEYS[1]) - 1
            local noted = redis.call('ZCARD', KEYS[2])
            local data, known, count = unpack(redis.call('HMGET', KEYS[3], 'data', 'known', 'count'))
            if not (data and known and tonumber(count) == noted) then
                data, known = data or text(now), text(now)
                redis.pcall('HSET', KEYS[3], 'data', data, 'known', known, 'count', noted)
            end
            local members = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf', 'WITHSCORES')
            return {data, known, ARGV[1], text(now), members}
            """)
}

/// The scripts of leases. A lease is a key with a time to live, which holds the value of its holder's ``FleetLeaseToken``.
/// Its time is Redis's alone: no script takes or compares a time of a machine.
extension RedisScript {
    /// Takes a lease, unless it is held. `KEYS`: lease, counter. `ARGV`: milliseconds to live, the holder's mark. Returns
    /// the number of the grant, or 0 and the milliseconds that are left to the holder.
    static let acquire = RedisScript(
        "acquire", using: numbers,
        source: """
            if redis.call('EXISTS', KEYS[1]) == 1 then return {0, redis.call('PTTL', KEYS[1])} end
            local token = number(KEYS[2])
            redis.call('SET', KEYS[1], text(token) .. ' ' .. ARGV[2], 'PX', ARGV[1])
            return {token, 0}
            """)

    /// Prolongs a lease. `KEYS`: lease. `ARGV`: the holder's value, milliseconds to live.
    static let renew = RedisScript(
        "renew",
        source: """
            if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
            redis.call('PEXPIRE', KEYS[1], ARGV[2])
            return 1
            """)

    /// Ends a lease and tells the waiters what became of it. `KEYS`: lease. `ARGV`: the holder's value, the channel,
    /// the outcome.
    static let release = RedisScript(
        "release",
        source: """
            if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
            redis.call('DEL', KEYS[1])
            redis.call('PUBLISH', ARGV[2], ARGV[3])
            return 1
            """)

    /// Stores a result of an `Encode` under a lease. `KEYS`: result, lease. `ARGV`: the holder's value, milliseconds
    /// to live, the channel, the result.
    static let commitResult = RedisScript(
        "commitResult",
        source: """
            if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
            redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[2])
            redis.call('DEL', KEYS[2])
            redis.call('PUBLISH', ARGV[3], 'stored')
            return 1
            """)
}

/// What became of a lease.
enum LeaseOutcome: String, Sendable {
    /// The response or the result is stored.
    case stored
    /// It can't be shared, or the holder failed. Each waiter asks for itself.
    case notShared
}

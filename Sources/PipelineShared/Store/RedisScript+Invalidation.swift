/// The script that changes the epoch of a URL or a tag.
extension RedisScript {
    /// Makes a URL or a tag invalid. `KEYS`: counter, epoch, log, what is known of the log. `ARGV`: the target, the channel,
    /// milliseconds for which requests in flight count, the most noted invalidations, microseconds for which they are
    /// noted. Returns the number, whether anything was stored since the last invalidation, and how
    /// many machines were told.
    ///
    /// What matters works in a server that has no memory left for writes: the epoch is deleted and the message sent. If
    /// the invalidation can't be noted there, nobody can tell what is missing in the log.
    static let invalidate = RedisScript(
        "invalidate", using: numbers,
        source: """
            local epoch = redis.call('GET', KEYS[2])
            redis.call('DEL', KEYS[2])
            local now = coming(KEYS[1])
            redis.pcall('SET', KEYS[1], text(now))
            redis.pcall('SET', KEYS[2], 'i' .. text(now), 'PX', ARGV[3])
            if type(redis.pcall('ZADD', KEYS[3], text(now), ARGV[1])) == 'number' then
                local old = redis.call('ZREVRANGEBYSCORE', KEYS[3], text(now - ARGV[5]), '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
                local over = redis.call('ZREVRANGE', KEYS[3], ARGV[4], ARGV[4], 'WITHSCORES')
                local known = math.max(tonumber(old[2] or 0), tonumber(over[2] or 0))
                if known > 0 then
                    redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', text(known))
                    redis.pcall('HSET', KEYS[4], 'known', text(known))
                end
                redis.pcall('HSET', KEYS[4], 'count', redis.call('ZCARD', KEYS[3]))
            else
                redis.call('DEL', KEYS[4])
            end
            local existed = epoch and string.sub(epoch, 1, 1) == 'c' and 1 or 0
            return {now, existed, redis.call('PUBLISH', ARGV[2], text(now) .. ' ' .. ARGV[1])}
            """)
}

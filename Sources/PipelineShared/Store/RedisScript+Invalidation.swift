/// The script that changes the epoch of a URL or a tag.
extension RedisScript {
    /// Makes a URL or a tag invalid. `KEYS`: counter, epoch, log. `ARGV`: the target, the channel, milliseconds for which
    /// requests in flight count, the most noted invalidations, microseconds for which they are noted.
    ///
    /// What matters works in a server that has no memory left for writes: the epoch is deleted and the message sent.
    static let invalidate = RedisScript(
        "invalidate", using: numbers,
        source: """
            local existed = redis.call('DEL', KEYS[2])
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local last = tonumber(redis.call('GET', KEYS[1]) or 0)
            if last >= now then now = last + 1 end
            redis.pcall('SET', KEYS[1], text(now))
            redis.pcall('SET', KEYS[2], 'i' .. text(now), 'PX', ARGV[3])
            redis.pcall('ZADD', KEYS[3], now, ARGV[1])
            redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1 - ARGV[4])
            redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', text(now - ARGV[5]))
            redis.call('PUBLISH', ARGV[2], text(now) .. ' ' .. ARGV[1])
            return {now, existed}
            """)
}

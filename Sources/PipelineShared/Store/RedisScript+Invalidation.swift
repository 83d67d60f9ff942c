/// The script that changes the epoch of a URL or a tag.
extension RedisScript {
    /// Makes a URL or a tag invalid, with the URLs whose responses got the tag later; see ``tag``. `KEYS`: counter, epoch, log,
    /// what is known of the log, the list of these URLs. `ARGV`: the target, the channel, milliseconds for which requests
    /// in flight count, the most noted invalidations, microseconds for which they are noted, the epochs' prefix. Returns
    /// the number, whether anything was stored since the last invalidation, and how many machines were told.
    ///
    /// What matters works in a server that has no memory left for writes: the epoch is deleted and the message sent. If
    /// the invalidation can't be noted there, nobody can tell what is missing in the log.
    static let invalidate = RedisScript(
        "invalidate", using: numbers,
        source: """
            local now, heard
            local existed = 0
            local areNoted = true
            local function invalidate(key, target)
                local epoch = redis.call('GET', key)
                redis.call('DEL', key)
                now = coming(KEYS[1])
                redis.pcall('SET', KEYS[1], text(now))
                redis.pcall('SET', key, 'i' .. text(now), 'PX', ARGV[3])
                areNoted = type(redis.pcall('ZADD', KEYS[3], text(now), target)) == 'number' and areNoted
                if epoch and string.sub(epoch, 1, 1) == 'c' then existed = 1 end
                heard = redis.call('PUBLISH', ARGV[2], text(now) .. ' ' .. target)
            end
            for _, member in ipairs(redis.call('SMEMBERS', KEYS[5])) do
                local name, url = string.match(member, '^(%x+) (.*)$')
                invalidate(ARGV[6] .. name, url)
            end
            redis.call('DEL', KEYS[5])
            invalidate(KEYS[2], ARGV[1])
            if areNoted then
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
            return {now, existed, heard}
            """)
}

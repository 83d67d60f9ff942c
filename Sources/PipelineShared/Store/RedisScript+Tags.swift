import Pipeline
import PipelineHTTP

/// The script that gives responses tags that the load which fetched them didn't have.
///
/// Other machines have copies of the response that lack the tag. So the URLs of such responses are noted for the tag, and its
/// removal is a removal of these URLs too. The notes have no time to live, so that Redis doesn't evict them; those of
/// tags that weren't given for long are deleted by and by.
extension RedisScript {
    /// `KEYS`: entry, counter, the tags with their times. `ARGV`: the epochs' prefix, the prefix of the lists of URLs, the
    /// names of the tags' epochs, the name of the URL's epoch and the URL, milliseconds for which they are noted.
    static let tag = RedisScript(
        "tag", using: numbers, claim,
        source: """
            local stamp = number(KEYS[2])
            local now = math.floor(stamp / 1000)
            local current = {}
            for name in string.gmatch(ARGV[3], '%x+') do
                redis.call('SADD', ARGV[2] .. name, ARGV[4])
                redis.call('ZADD', KEYS[3], text(now + ARGV[5]), name)
                current[#current + 1] = {name, redis.call('GET', ARGV[1] .. name)}
            end
            local index = redis.call('HGET', KEYS[1], 'i')
            if index then
                local epochs = claim(ARGV[1], current, stamp, redis.call('PTTL', KEYS[1]))
                for generation in string.gmatch(index, '%d+') do
                    local known = redis.call('HGET', KEYS[1], 'e' .. generation)
                    if known then redis.call('HSET', KEYS[1], 'e' .. generation, merged(known, epochs)) end
                end
            end
            for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', text(now), 'LIMIT', 0, 10)) do
                redis.call('DEL', ARGV[2] .. name)
                redis.call('ZREM', KEYS[3], name)
            end
            """)
}

extension RedisStore {
    func add(
        _ tags: Set<String>, to key: SourceKey, from target: String,
        choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?
    ) async {
        _ = await writing {
            try await scripts.run(
                .tag, keys: [keys.entry(key), keys.counter, keys.tagged],
                [
                    Array(keys.epochs.utf8), Array(keys.taggedURLs.utf8), names(tags.map { ResponseTags.target($0) }),
                    Array("\(keys.epoch(target)) \(target)".utf8),
                    Self.digits(limits.longestTime.nanoseconds / 1_000_000),
                ])
        }
    }
}

/// The scripts on the responses of one source, which are fields of one hash:
///
/// - `i`: the generations, the newest first, separated by spaces
/// - `n`: the number of the last change, by which a change sees that another came first
/// - `h`, `b`, `e` and a generation: its head, its body, and the epochs of its URLs and tags when it was stored
/// - `b` and `g`: the body of the response that was stored last, and its generation. A reader asks for them by name, in
///   the round trip of `find`: a long text takes Lua longer than everything else here.
/// - `w` and a generation: its results' names; `v`, a generation, a dot and such a name: the result
///
/// Each URL and tag has an epoch, a key of its own: `c` and a number, set when the first response is stored, or `i` and a
/// number after an invalidation. A response holds as long as all its epochs are what they were. So an invalidation has
/// one key to change however many responses it is about; and if Redis evicts an epoch, its responses are lost rather
/// than found after an invalidation.
extension RedisScript {
    /// `holds(prefix, epochs)`: whether no URL or tag of a response has become invalid.
    static let holds = """
        local function holds(prefix, epochs)
            local names, values = {}, {}
            for name, value in string.gmatch(epochs, '(%x+)=(%w+)') do
                names[#names + 1], values[#values + 1] = prefix .. name, value
            end
            local current = redis.call('MGET', unpack(names))
            for index, value in ipairs(values) do
                if current[index] ~= value then return false end
            end
            return true
        end
        """

    /// `heads(entry, prefix)`: the number of the last change, and the generations and heads of all responses that hold.
    static let heads = """
        local function heads(entry, prefix)
            local index = redis.call('HGET', entry, 'i')
            if not index then return {} end
            local fields, generations = {'n'}, {}
            for generation in string.gmatch(index, '%d+') do
                generations[#generations + 1] = generation
                fields[#fields + 1] = 'h' .. generation
                fields[#fields + 1] = 'e' .. generation
            end
            local values = redis.call('HMGET', entry, unpack(fields))
            local reply = {values[1]}
            for index, generation in ipairs(generations) do
                local head, epochs = values[2 * index], values[2 * index + 1]
                if head and epochs and holds(prefix, epochs) then
                    reply[#reply + 1] = generation
                    reply[#reply + 1] = head
                end
            end
            return reply
        end
        """

    /// `valid(prefix, names, since, stamp)`: the epochs of a response's URLs and tags; `nil` if one became invalid after
    /// the number `since`. A request that is more than two seconds ahead of Redis' clock was sent before that was set
    /// back, so that it may have come before any invalidation.
    ///
    /// `claim(prefix, epochs, stamp, time)`: these epochs as they are stored with the response. They live as long as it at
    /// least.
    ///
    /// `merged(epochs, others)`: the first, and those of the others that aren't among them.
    static let claim = """
        local function valid(prefix, names, since, stamp)
            local epochs = {}
            local isFromFuture = since > stamp + 2000000
            for name in string.gmatch(names, '%x+') do
                local value = redis.call('GET', prefix .. name)
                if value and string.sub(value, 1, 1) == 'i' and (isFromFuture or tonumber(string.sub(value, 2)) > since) then
                    return nil
                end
                epochs[#epochs + 1] = {name, value}
            end
            return epochs
        end
        local function claim(prefix, epochs, stamp, time)
            for index, epoch in ipairs(epochs) do
                local name, value = epoch[1], epoch[2]
                if not value then
                    value = 'c' .. text(stamp)
                    redis.call('SET', prefix .. name, value, 'PX', time)
                elseif redis.call('PTTL', prefix .. name) < tonumber(time) then
                    redis.call('PEXPIRE', prefix .. name, time)
                end
                epochs[index] = name .. '=' .. value
            end
            return table.concat(epochs, ' ')
        end
        local function merged(epochs, others)
            for name, value in string.gmatch(others, '(%x+)=(%w+)') do
                if not string.find(epochs, name .. '=', 1, true) then epochs = epochs .. ' ' .. name .. '=' .. value end
            end
            return epochs
        end
        """

    /// `drop(entry, generations, dropped, known)`: removes responses with their results. `dropped` are generations
    /// between spaces. Returns the others, and how many were removed.
    static let drop = """
        local function drop(entry, index, dropped, all)
            local left, count = {}, 0
            for generation in string.gmatch(index, '%d+') do
                if string.find(dropped, ' ' .. generation .. ' ', 1, true) then
                    count = count + 1
                    for name in string.gmatch(redis.call('HGET', entry, 'w' .. generation) or '', '%S+') do
                        redis.call('HDEL', entry, 'v' .. generation .. '.' .. name)
                    end
                    redis.call('HDEL', entry, 'h' .. generation, 'b' .. generation, 'e' .. generation, 'w' .. generation)
                    if redis.call('HGET', entry, 'g') == generation then redis.call('HDEL', entry, 'b', 'g') end
                    redis.call('ZREM', all, generation .. ' ' .. entry)
                else
                    left[#left + 1] = generation
                end
            end
            return left, count
        end
        """

    /// `live(entry, time)`: lets a key live this many milliseconds at least.
    static let live = """
        local function live(entry, time)
            if redis.call('PTTL', entry) < tonumber(time) then redis.call('PEXPIRE', entry, time) end
        end
        """

    /// Finds the responses of a source. `KEYS`: the entry. `ARGV`: the epochs' prefix.
    static let find = RedisScript("find", using: holds, heads, source: "return heads(KEYS[1], ARGV[1])")

    /// Inserts a response. `KEYS`: entry, counter, all generations, lease, failures. `ARGV`: the epochs' prefix, the
    /// number of the last known change, the lease's token or nothing, the number since which invalidations count,
    /// milliseconds to live, the replaced generations, the head, the body, the epochs' names, the most responses,
    /// the channel of the lease, `1` if it resets the failures, and `1` if there is room for it.
    static let insert = RedisScript(
        "insert", using: numbers, holds, heads, claim, drop, live,
        source: """
            if ARGV[3] ~= '' and redis.call('GET', KEYS[4]) ~= ARGV[3] then return {'fenced'} end
            if (redis.call('HGET', KEYS[1], 'n') or '') ~= ARGV[2] then
                return {'changed', heads(KEYS[1], ARGV[1])}
            end
            local stamp = number(KEYS[2])
            local current = valid(ARGV[1], ARGV[9], tonumber(ARGV[4]), stamp)
            if not current then return {'invalid'} end
            if ARGV[13] ~= '1' then return {'large'} end
            local epochs = claim(ARGV[1], current, stamp, ARGV[5])
            local generation = text(stamp)
            local left = drop(KEYS[1], redis.call('HGET', KEYS[1], 'i') or '', ARGV[6], KEYS[3])
            table.insert(left, 1, generation)
            if #left > tonumber(ARGV[10]) then
                drop(KEYS[1], left[#left], ' ' .. left[#left] .. ' ', KEYS[3])
                table.remove(left)
            end
            local last = redis.call('HGET', KEYS[1], 'g')
            if last then redis.call('HSET', KEYS[1], 'b' .. last, redis.call('HGET', KEYS[1], 'b')) end
            redis.call('HSET', KEYS[1], 'i', table.concat(left, ' '), 'n', generation, 'h' .. generation, ARGV[7],
                'b', ARGV[8], 'g', generation, 'e' .. generation, epochs)
            live(KEYS[1], ARGV[5])
            redis.call('ZADD', KEYS[3], generation, generation .. ' ' .. KEYS[1])
            live(KEYS[3], ARGV[5])
            -- Responses that have expired leave the list of generations by and by.
            for _, member in ipairs(redis.call('ZRANDMEMBER', KEYS[3], 2)) do
                local old, entry = string.match(member, '^(%d+) (.*)$')
                if redis.call('HEXISTS', entry, 'h' .. old) == 0 then redis.call('ZREM', KEYS[3], member) end
            end
            if ARGV[12] == '1' then redis.call('DEL', KEYS[5]) end
            if ARGV[3] ~= '' then
                redis.call('DEL', KEYS[4])
                redis.call('PUBLISH', ARGV[11], 'stored')
            end
            return {'inserted', stamp}
            """)

    /// Replaces the head of a response. `KEYS`: entry, counter, lease. `ARGV`: the epochs' prefix, the number of the last
    /// known change, the lease's token or nothing, the number since which invalidations count, milliseconds to
    /// live, the generation, the head, the epochs' names, the channel of the lease, the prefix of the lists of tagged URLs.
    static let update = RedisScript(
        "update", using: numbers, holds, claim, live,
        source: """
            if ARGV[3] ~= '' and redis.call('GET', KEYS[3]) ~= ARGV[3] then return 'fenced' end
            if (redis.call('HGET', KEYS[1], 'n') or '') ~= ARGV[2] then return 'changed' end
            local known = redis.call('HGET', KEYS[1], 'e' .. ARGV[6])
            if not known or not holds(ARGV[1], known) then return 'gone' end
            local stamp = number(KEYS[2])
            local current = valid(ARGV[1], ARGV[8], tonumber(ARGV[4]), stamp)
            if not current then return 'invalid' end
            local epochs = claim(ARGV[1], current, stamp, ARGV[5])
            -- Tags that loads have added to it aren't among its fields.
            for name, value in string.gmatch(known, '(%x+)=(%w+)') do
                if redis.call('EXISTS', ARGV[10] .. name) == 1 then epochs = merged(epochs, name .. '=' .. value) end
            end
            redis.call('HSET', KEYS[1], 'n', text(stamp), 'h' .. ARGV[6], ARGV[7], 'e' .. ARGV[6], epochs)
            live(KEYS[1], ARGV[5])
            if ARGV[3] ~= '' then
                redis.call('DEL', KEYS[3])
                redis.call('PUBLISH', ARGV[9], 'stored')
            end
            return 'updated'
            """)

    /// Removes responses. `KEYS`: entry, counter, all generations. `ARGV`: the number of the last known change, and the
    /// generations between spaces.
    static let remove = RedisScript(
        "remove", using: numbers, drop,
        source: """
            if (redis.call('HGET', KEYS[1], 'n') or '') ~= ARGV[1] then return -1 end
            local left, count = drop(KEYS[1], redis.call('HGET', KEYS[1], 'i') or '', ARGV[2], KEYS[3])
            if #left == 0 then
                redis.call('DEL', KEYS[1])
            elseif count > 0 then
                redis.call('HSET', KEYS[1], 'i', table.concat(left, ' '), 'n', text(number(KEYS[2])))
            end
            return count
            """)

    /// Stores a result of a response. `KEYS`: entry. `ARGV`: the generation, the result's name, the result, the most
    /// results.
    static let keepResult = RedisScript(
        "keepResult",
        source: """
            if redis.call('HEXISTS', KEYS[1], 'h' .. ARGV[1]) == 0 then return 0 end
            local names = {}
            for name in string.gmatch(redis.call('HGET', KEYS[1], 'w' .. ARGV[1]) or '', '%S+') do
                if name ~= ARGV[2] then names[#names + 1] = name end
            end
            names[#names + 1] = ARGV[2]
            if #names > tonumber(ARGV[4]) then
                redis.call('HDEL', KEYS[1], 'v' .. ARGV[1] .. '.' .. names[1])
                table.remove(names, 1)
            end
            redis.call('HSET', KEYS[1], 'w' .. ARGV[1], table.concat(names, ' '), 'v' .. ARGV[1] .. '.' .. ARGV[2], ARGV[3])
            return 1
            """)

    /// Lists responses in the order of their generations. `KEYS`: all generations. `ARGV`: the generation after which
    /// to begin, the most responses, the epochs' prefix. Returns the last generation that was looked at, then entry,
    /// generation and head of each response.
    static let list = RedisScript(
        "list", using: holds,
        source: """
            local members = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[1], '+inf', 'LIMIT', 0, ARGV[2])
            local reply = {''}
            for _, member in ipairs(members) do
                local generation, entry = string.match(member, '^(%d+) (.*)$')
                reply[1] = generation
                local values = redis.call('HMGET', entry, 'h' .. generation, 'e' .. generation)
                if values[1] and values[2] and holds(ARGV[3], values[2]) then
                    reply[#reply + 1] = entry
                    reply[#reply + 1] = generation
                    reply[#reply + 1] = values[1]
                elseif not values[1] then
                    redis.call('ZREM', KEYS[1], member)
                end
            end
            return reply
            """)

    /// Counts responses in the order of their generations. `KEYS`: all generations. `ARGV`: the generation after which to
    /// begin, how many to look at, the epochs' prefix. Returns the last generation that was looked at, and the number of
    /// those that hold.
    static let count = RedisScript(
        "count", using: holds,
        source: """
            local members = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[1], '+inf', 'LIMIT', 0, ARGV[2])
            local last, count = '', 0
            for _, member in ipairs(members) do
                local generation, entry = string.match(member, '^(%d+) (.*)$')
                last = generation
                local epochs = redis.call('HGET', entry, 'e' .. generation)
                if not epochs then
                    redis.call('ZREM', KEYS[1], member)
                elseif holds(ARGV[3], epochs) then
                    count = count + 1
                end
            end
            return {last, count}
            """)

    /// Counts a failed attempt. `KEYS`: failures. `ARGV`: status, time in microseconds, milliseconds to live.
    static let recordFailure = RedisScript(
        "recordFailure",
        source: """
            local attempts = redis.call('HINCRBY', KEYS[1], 'attempts', 1)
            redis.call('HSET', KEYS[1], 'status', ARGV[1], 'latest', ARGV[2])
            redis.call('PEXPIRE', KEYS[1], ARGV[3])
            return attempts
            """)
}

/// A script that Redis runs in one step, with no other command in between.
struct RedisScript: Sendable, Hashable {
    /// Its name in messages.
    let name: String
    /// Lua, with the functions that it uses.
    let source: String

    init(_ name: String, using functions: String..., source: String) {
        self.name = name
        self.source = functions.joined(separator: "\n") + "\n" + source
    }

    static func == (first: Self, second: Self) -> Bool { first.name == second.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension RedisScript {
    /// `number(counter)`: a number that is larger than any that it has returned, even if the server has lost its data:
    /// the larger of a counter and the server's time in microseconds. Below 2^53 until the year 2255, so Lua's doubles
    /// hold it. `coming(counter)`: the same, which isn't taken. `text(number)`: its digits, which Lua alone would print with
    /// an exponent.
    static let numbers = """
        local function text(number) return string.format('%.0f', number) end
        local function coming(counter)
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local last = tonumber(redis.call('GET', counter) or 0)
            -- A number of another program counts for nothing.
            if last and last >= now and last < 2^53 then now = last + 1 end
            return now
        end
        local function number(counter)
            local now = coming(counter)
            redis.call('SET', counter, text(now))
            return now
        end
        """
}

import LibC
import Pipeline

/// The sentinels that know which Redis server is the primary (Redis Sentinel).
package struct RedisSentinels: Sendable, Hashable {
    /// The name of the primary in the sentinels' configuration.
    package var primary: String
    /// The hosts and ports of the sentinels.
    package var servers: [RedisAddress.Endpoint]
    /// The user of the sentinels' access control list; `nil` for the default user.
    package var user: String?
    /// The file with the password of the sentinels; `nil` for sentinels that want none.
    package var passwordFile: String?

    /// Names sentinels and the primary that they know.
    package init(
        of primary: String, at servers: [RedisAddress.Endpoint], user: String? = nil, passwordFile: String? = nil
    ) {
        self.primary = primary
        self.servers = servers
        self.user = user
        self.passwordFile = passwordFile
    }

    /// Asks one sentinel after the other until one knows the primary. It blocks.
    /// - Parameters:
    ///   - first: The number of the sentinel to begin with.
    ///   - limit: How long all of them may take; each has an equal share.
    /// - Returns: The primary's host and port.
    /// - Throws: ``RedisFailure`` of the last sentinel.
    func address(
        _ tls: RedisTLS?, from first: Int, within limit: Duration
    ) throws(RedisFailure) -> RedisAddress.Endpoint {
        var last = RedisFailure.timedOut
        let password = try passwordFile.flatMap { file throws(RedisFailure) in try RedisAddress.password(in: file) }
        let commands =
            (password.map { [["AUTH"] + [user, $0].compactMap(\.self)] } ?? []) + [
                ["SENTINEL", "get-master-addr-by-name", primary]
            ]
        for index in servers.indices {
            let server = servers[(first + index) % servers.count]
            do throws(RedisFailure) {
                let reply = try ask(server, tls, commands, within: limit / servers.count)
                if case .null = reply {
                    throw .refused("it knows no \(primary). Write the name that sentinel.conf gives the primary")
                }
                guard let words = reply.array, words.count == 2, let host = words[0].text, let port = words[1].integer,
                    (1...65_535).contains(port)
                else { throw .unreachable("it sent an unexpected reply") }
                return .host(host, port: Int(port))
            } catch {
                last = error
            }
        }
        throw .unreachable("no sentinel tells the address of the primary \(printable(primary)); the last one: \(last)")
    }

    /// Connects, sends commands and waits for their replies.
    /// - Returns: The last reply.
    private func ask(
        _ server: RedisAddress.Endpoint, _ tls: RedisTLS?, _ commands: [[String]], within limit: Duration
    ) throws(RedisFailure) -> RedisValue {
        let clock = SystemClock()
        let until = clock.uptimeNanoseconds + limit.nanoseconds
        let target = try RedisTarget(of: server)
        let link = try RedisLink(target.endpoints[0], tls, host: target.host)
        for command in commands { link.append(command.map { Array($0.utf8) }) }
        var left = commands.count
        while true {
            let rest = until - clock.uptimeNanoseconds
            guard rest > 0 else { throw link.timeOut }
            var polled = pollfd(fd: link.descriptor, events: link.events, revents: 0)
            poll(&polled, 1, Int32(clamping: rest / 1_000_000 + 1))
            try link.proceed(polled.revents)
            while let reply = try link.nextReply() {
                if case .error(let text) = reply { throw .refused(text) }
                left -= 1
                if left == 0 { return reply }
            }
        }
    }
}

import Foundation

/// A primary with a replica on ports of 127.0.0.1, and three sentinels that watch them. They end with the test.
package final class WatchedRedis: Sendable {
    /// The two servers, of which the first is the primary until a failover.
    package let servers: [RedisServer]
    /// The sentinels.
    package let sentinels: [RedisServer]
    /// The ports of the servers.
    package let ports: [Int]
    private let sentinelPorts: [Int]

    /// Starts all, and returns once the sentinels know each other and the replica.
    /// - Parameters:
    ///   - certificates: What all speak TLS with; `nil` for no TLS.
    ///   - password: That of the sentinels; `nil` for none.
    package init(_ certificates: Certificates? = nil, password: String? = nil) throws {
        ports = [try freePort(), try freePort()]
        let secured = certificates.map { certificates in
            [
                ("tls-replication", "yes"), ("tls-auth-clients", "no"),
                ("tls-cert-file", certificates.certificate("server")), ("tls-key-file", certificates.key("server")),
                ("tls-ca-cert-file", certificates.certificate("authority")),
            ]
        }
        let port = secured == nil ? "port" : "tls-port"
        servers = try ports.map { [ports] number in
            var options =
                (secured ?? []) + [(port, "\(number)"), ("bind", "127.0.0.1"), ("repl-diskless-sync-delay", "0")]
            if number != ports[0] { options.append(("replicaof", "127.0.0.1 \(ports[0])")) }
            return try RedisServer(
                options: options.flatMap { ["--" + $0.0] + $0.1.split(separator: " ").map(String.init) })
        }
        while try servers[0].send("WAIT 1 1000") != ":1" {}
        sentinelPorts = [try freePort(), try freePort(), try freePort()]
        sentinels = try sentinelPorts.map { [ports] number in
            var settings = secured ?? []
            settings += [(port, "\(number)"), ("bind", "127.0.0.1")]
            if secured != nil { settings.append(("port", "0")) }
            settings += [
                ("sentinel", "monitor \(Self.name) 127.0.0.1 \(ports[0]) 2"),
                ("sentinel", "down-after-milliseconds \(Self.name) 500"),
                ("sentinel", "failover-timeout \(Self.name) 3000"),
            ]
            if let password { settings += [("requirepass", password), ("sentinel", "sentinel-pass \(password)")] }
            return try RedisServer(sentinel: settings.map { "\($0.0) \($0.1)" })
        }
        for sentinel in password == nil ? sentinels : [] {
            while try sentinel.send("SENTINEL REPLICAS \(Self.name)") != "*1" {}
            while (try? sentinel.send("SENTINEL CKQUORUM \(Self.name)").hasPrefix("+OK 3 ")) != true {}
        }
    }

    /// The name of the primary in the sentinels' configuration.
    package static let name = "thumbnails"

    /// The address as a URL.
    package func url(_ query: String..., scheme: String = "redis") -> String {
        let hosts = sentinelPorts.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        return "\(scheme)+sentinel://\(hosts)/\(Self.name)" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    /// Whether all sentinels name one of the servers as the primary.
    package func isPrimary(_ server: Int) throws -> Bool {
        try sentinels.allSatisfy { sentinel in
            let reply = try sentinel.send("SENTINEL get-master-addr-by-name \(Self.name)", lines: 5)
            return reply.split(separator: "\n").last == "\(ports[server])"
        }
    }
}

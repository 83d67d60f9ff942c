import FleetServers
import Foundation
import Pipeline
import Testing

@testable import PipelineShared

@Suite("A primary that sentinels know", .withEncryptedRedis, .timeLimit(.minutes(5)))
struct RedisSentinelsTests {
    private static let patient = RedisLimits(request: .seconds(20), connecting: .seconds(10))

    private func connection(_ address: RedisAddress, limits: RedisLimits = patient) -> RedisConnection {
        RedisConnection(address, limits: limits)
    }

    @Test("is found, and found again after it has become the replica")
    func failover() async throws {
        let redis = try WatchedRedis()
        let connection = connection(try RedisAddress(redis.url()))
        #expect(try await connection.send("SET", "a", "1").text == "OK")
        try redis.sentinels[0].send("SENTINEL FAILOVER \(WatchedRedis.name)")
        var isMoved = false
        while !isMoved {
            isMoved = try await (try? connection.send("SET", "a", "2")) != nil && redis.isPrimary(1)
        }
        #expect(try await connection.send("GET", "a").text == "2")
        #expect(try await connection.send("ROLE").array?.first?.text == "master")
    }

    @Test("is found although some sentinels are gone, stopped, or no sentinels")
    func otherSentinels() async throws {
        let redis = try WatchedRedis()
        redis.sentinels[0].kill()
        redis.sentinels[1].setStopped(true)
        defer { redis.sentinels[1].setStopped(false) }
        let limits = RedisLimits(request: .seconds(20), connecting: .seconds(3))
        #expect(try await connection(try RedisAddress(redis.url()), limits: limits).send("PING").text == "PONG")
        let hostile = try HostileRedis { $0.words[0] == "SENTINEL" ? .text("*2\r\n+a\r\n:99999999\r\n") : nil }
        var address = try RedisAddress(redis.url())
        guard case .primary(var sentinels) = address.endpoint else { throw Unexpected() }
        sentinels.servers = [hostile.address.endpoint, sentinels.servers[2]]
        address.endpoint = .primary(sentinels)
        #expect(try await connection(address, limits: limits).send("PING").text == "PONG")
    }

    @Test("is asked for again if a sentinel has named a replica")
    func replica() async throws {
        let redis = try WatchedRedis()
        let count = Lock(0)
        let ports = redis.ports
        let sentinel = try HostileRedis { command in
            guard command.words[0] == "SENTINEL" else { return nil }
            let port = count.withLock { count in
                count += 1
                return "\(ports[count == 1 ? 1 : 0])"
            }
            return .text("*2\r\n$9\r\n127.0.0.1\r\n$\(port.utf8.count)\r\n\(port)\r\n")
        }
        let address = RedisAddress(.primary(RedisSentinels(of: WatchedRedis.name, at: [sentinel.address.endpoint])))
        let connection = connection(address)
        let error = await #expect(throws: RedisFailure.self) { try await connection.send("PING") }
        #expect(error?.isNotPrimary == true)
        var isFound = false
        while !isFound { isFound = (try? await connection.send("SET", "a", "1")) != nil }
        #expect(count.withLock(\.self) == 2)
    }

    @Test("is found over TLS, with sentinels that require a password")
    func encrypted() async throws {
        let certificates = try Certificates()
        let redis = try WatchedRedis(certificates, password: "hunter2")
        let file = redis.sentinels[0].folder + "/password"
        try Data("hunter2\n".utf8).write(to: URL(filePath: file))
        let ca = "ca=\(certificates.certificate("authority"))"
        let url = redis.url(ca, "sentinel-password-file=\(file)", scheme: "rediss")
        #expect(try await connection(try RedisAddress(url)).send("PING").text == "PONG")
        for (url, words) in [
            (redis.url(ca, scheme: "rediss"), "NOAUTH"),
            (redis.url("sentinel-password-file=\(file)", scheme: "rediss"), "?ca=PATH"),
            (redis.url("sentinel-password-file=\(file)"), "rediss://"),
        ] {
            let connection = connection(try RedisAddress(url))
            let error = await #expect(throws: RedisFailure.self) { try await connection.send("PING") }
            let text = error?.description ?? ""
            #expect(text.contains(WatchedRedis.name) && text.contains(words) && !text.contains("hunter2"), "\(text)")
        }
    }

    @Test("is found with a user of the sentinels' access control list")
    func user() async throws {
        let redis = try WatchedRedis()
        for sentinel in redis.sentinels { try sentinel.send("ACL SETUSER watcher on >hunter2 +auth +sentinel") }
        let file = redis.sentinels[0].folder + "/password"
        try Data("hunter2\n".utf8).write(to: URL(filePath: file))
        func url(_ user: String) -> String { redis.url("sentinel-user=\(user)", "sentinel-password-file=\(file)") }
        #expect(try await connection(try RedisAddress(url("watcher"))).send("PING").text == "PONG")
        let stranger = connection(try RedisAddress(url("stranger")))
        let error = await #expect(throws: RedisFailure.self) { try await stranger.send("PING") }
        #expect(error?.description.contains("WRONGPASS") == true)
    }

    @Test("has a name that sentinels don't know, which is said")
    func unknownName() async throws {
        let redis = try WatchedRedis()
        let url = redis.url().replacing("/\(WatchedRedis.name)", with: "/other")
        let connection = connection(try RedisAddress(url))
        let error = await #expect(throws: RedisFailure.self) { try await connection.send("PING") }
        #expect(error?.description.contains("knows no other. Write the name that sentinel.conf gives") == true)
    }
}

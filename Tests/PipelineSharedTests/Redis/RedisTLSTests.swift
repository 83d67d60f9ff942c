import FleetServers
import Foundation
import LibC
import Pipeline
import Testing

@testable import PipelineShared

@Suite("A connection to Redis over TLS", .withEncryptedRedis, .timeLimit(.minutes(5)))
struct RedisTLSTests {
    private static let patient = RedisLimits(request: .seconds(10), connecting: .seconds(10))
    private let certificates: Certificates

    init() throws { certificates = try Certificates() }

    private func authority(_ name: String = "authority") -> String { "ca=\(certificates.certificate(name))" }

    private func client(_ name: String, key: String? = nil) -> String {
        "cert=\(certificates.certificate(name))&key=\(certificates.key(key ?? name))"
    }

    private func connection(_ url: String) throws -> RedisConnection {
        RedisConnection(try RedisAddress(url), limits: Self.patient)
    }

    /// Why a request to a server fails, which the server's state has too.
    private func failure(_ url: String, limits: RedisLimits = patient) async throws -> String {
        let states = Lock<[RedisState]>([])
        let connection = RedisConnection(try RedisAddress(url), limits: limits) { state in
            states.withLock { $0.append(state) }
        }
        let failure = await #expect(throws: RedisFailure.self) { try await connection.send("PING") }
        connection.close()
        await connection.ended()
        let text = failure?.description ?? ""
        #expect(states.withLock(\.self) == [.lost(.unreachable(text))])
        return text
    }

    @Test("carries bytes of any value and length in both directions", arguments: ["TLSv1.2", "TLSv1.3"])
    func bytes(version: String) async throws {
        let redis = try EncryptedRedis(certificates, protocols: version)
        let connection = RedisConnection(redis.address, limits: Self.patient)
        for length in [0, 1, 255, 16_384, 16_385, 131_072, 1_000_000, 8_000_000] {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 / 7) }
            _ = try await connection.send([Array("SET".utf8), [0, 13, 10, 255], bytes])
            #expect(try await connection.send([Array("GET".utf8), [0, 13, 10, 255]]).bytes == bytes)
        }
    }

    @Test("gives each of many concurrent requests its own reply, long and short")
    func pipelining() async throws {
        let redis = try EncryptedRedis(certificates)
        let connection = RedisConnection(redis.address, limits: Self.patient)
        let right = try await withThrowingTaskGroup { group in
            for number in 0..<500 {
                group.addTask {
                    let text = String(repeating: "\(number),", count: number.isMultiple(of: 10) ? 20_000 : 1)
                    return try await connection.send("ECHO", text).text == text
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(right == 500)
    }

    @Test("writes the rest once a server that was stopped reads again")
    func partialWrites() async throws {
        let redis = try EncryptedRedis(certificates)
        let connection = RedisConnection(redis.address, limits: RedisLimits(request: .seconds(60)))
        #expect(try await connection.send("PING").text == "PONG")
        redis.server.setStopped(true)
        let bytes = [UInt8](repeating: 7, count: 3_000_000)
        try await withThrowingTaskGroup { group in
            for number in 0..<4 {
                group.addTask { try await connection.send([Array("SET".utf8), Array("\(number)".utf8), bytes]) }
            }
            // The socket takes less than that.
            group.addTask {
                redis.server.setStopped(false)
                return try await connection.send("PING")
            }
            for try await reply in group { #expect(reply.text == "OK" || reply.text == "PONG") }
        }
        for number in 0..<4 { #expect(try await connection.send("GET", "\(number)").bytes == bytes) }
    }

    @Test("is made to a name or an address that the certificate has, or to the one that the URL says it has")
    func names() async throws {
        let redis = try EncryptedRedis(certificates)
        for host in ["127.0.0.1", "localhost"] {
            #expect(try await connection(redis.url(authority(), host: host)).send("PING").text == "PONG", "\(host)")
        }
        let other = try EncryptedRedis(certificates, certificate: "named")
        let named = other.url(authority(), "server-name=cache.internal")
        #expect(try await connection(named).send("PING").text == "PONG")
        for url in [
            other.url(authority()), other.url(authority(), host: "localhost"),
            redis.url(authority(), "server-name=cache.internal"), redis.url(authority(), "server-name=127.0.0.2"),
        ] {
            #expect(try await failure(url).hasPrefix("its certificate is for another name."))
        }
    }

    @Test("is refused if the certificate's authority isn't trusted, with what to do")
    func untrusted() async throws {
        let redis = try EncryptedRedis(certificates)
        for url in [redis.url(), redis.url(authority("stranger"))] {
            let text = try await failure(url)
            #expect(text.hasPrefix("its certificate is from an authority that isn't trusted.") && text.contains("?ca="))
        }
    }

    @Test("is refused if the certificate has expired, with what to do")
    func expired() async throws {
        let redis = try EncryptedRedis(certificates, certificate: "expired")
        let text = try await failure(redis.url(authority()))
        #expect(text == "its certificate has expired. Renew it, or correct this machine's clock")
    }

    @Test("shows a client's certificate to a server that requires it", arguments: ["TLSv1.2", "TLSv1.3"])
    func clientCertificate(version: String) async throws {
        let redis = try EncryptedRedis(certificates, wantsClients: true, protocols: version)
        #expect(try await connection(redis.url(authority(), client("client"))).send("PING").text == "PONG")
        let both = certificates.certificate("both")
        var file = try Data(contentsOf: URL(filePath: certificates.certificate("client")))
        file += try Data(contentsOf: URL(filePath: certificates.key("client")))
        try file.write(to: URL(filePath: both))
        #expect(try await connection(redis.url(authority(), "cert=\(both)")).send("PING").text == "PONG")
        // The server's refusal may come before or after the first request is sent.
        for _ in 0..<10 {
            let missing = try await failure(redis.url(authority()))
            #expect(missing.contains("client certificate") && missing.contains("?cert="), "\(missing)")
            let intruder = try await failure(redis.url(authority(), client("intruder")))
            #expect(intruder.contains("refuses this client's certificate"), "\(intruder)")
            #expect(intruder.contains("?cert="), "\(intruder)")
        }
    }

    @Test("fails with the name of a file that can't be used, and asks nobody for a passphrase")
    func files() async throws {
        let redis = try EncryptedRedis(certificates)
        for (query, words) in [
            ("ca=/nowhere.pem", "?ca= can't be read"), ("ca=\(certificates.key("client"))", "no certificate in PEM"),
            ("cert=/nowhere.pem", "?cert= can't be read"), (client("client", key: "server"), "another certificate"),
            (client("client", key: "locked"), "a passphrase"),
        ] {
            let text = try await failure(redis.url(query))
            #expect(text.contains(words) && text.contains("/"), "\(text)")
        }
    }

    @Test("is refused by a server that speaks no TLS, with what to do")
    func plainServer() async throws {
        let silent = try SilentServer()
        let port = try freePort()
        let redis = try RedisServer("--port", "\(port)", "--bind", "127.0.0.1")
        defer { withExtendedLifetime(redis) {} }
        let quick = RedisLimits(request: .seconds(10), connecting: .milliseconds(250))
        for port in [port, silent.port] {
            let text = try await failure("rediss://127.0.0.1:\(port)", limits: quick)
            #expect(text.hasSuffix("If its port isn't for TLS, write redis://"), "\(text)")
        }
    }

    @Test("is what a server demands that ends any other connection, which is said")
    func plainClient() async throws {
        let redis = try EncryptedRedis(certificates)
        #expect(try await failure(redis.url(scheme: "redis")).hasSuffix("If its port is for TLS, write rediss://"))
        let server = try HostileRedis { _ in .last([21, 3, 3, 0, 2, 2, 70]) }
        guard case .host(let host, let port) = server.address.endpoint else { throw Unexpected() }
        #expect(
            try await failure("redis://\(host):\(port)") == "its reply is TLS. If its port is for TLS, write rediss://")
    }

    @Test("works again after it was ended in the middle of requests")
    func ended() async throws {
        let redis = try EncryptedRedis(certificates)
        let connection = RedisConnection(redis.address, limits: Self.patient)
        let bytes = [UInt8](repeating: 7, count: 1_000_000)
        for _ in 0..<20 {
            let sent = Task {
                try await withThrowingTaskGroup { group in
                    for _ in 0..<4 {
                        group.addTask { try await connection.send([Array("SET".utf8), Array("a".utf8), bytes]) }
                    }
                    try await group.waitForAll()
                }
            }
            _ = try? redis.server.send("CLIENT KILL TYPE normal")
            _ = await sent.result
        }
        var isWell = false
        while !isWell { isWell = (try? await connection.send("PING").text) == "PONG" }
        redis.server.kill()
        await #expect(throws: RedisFailure.self) { while true { _ = try await connection.send("PING") } }
    }
}

/// A port of 127.0.0.1 on which connections are accepted, and nothing is said. It ends with the test.
private final class SilentServer: Sendable {
    let port: Int
    private let listener: Int32

    init() throws {
        port = try freePort()
        listener = Socket.open(AF_INET)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isBound = withUnsafePointer(to: &address) { [listener] address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(listener, 64) == 0
            }
        }
        guard isBound else { throw Unexpected() }
    }

    deinit { close(listener) }
}

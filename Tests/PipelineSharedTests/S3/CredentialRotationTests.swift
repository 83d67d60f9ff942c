import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineShared

@Suite("Credentials that change", .timeLimit(.minutes(5)))
struct CredentialRotationTests {
    private let folder: CredentialFolder
    private let clock = ManualClock()

    init() throws { folder = try CredentialFolder() }

    /// A store that takes one key.
    private func store(taking key: Lock<String>, status: Int = 403) throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            let isRight = request.headers[.authorization]?.contains("Credential=\(key.withLock { $0 })/") == true
            return .init(status: isRight ? 200 : status, body: "object")
        }
    }

    private func client(_ origin: ScriptedOrigin, _ source: S3CredentialSource) throws -> SignedForS3 {
        SignedForS3(
            CurlClient(.local), at: try S3Endpoint("http://127.0.0.1:\(origin.port)"), clock: clock,
            credentials: source)
    }

    private func keys(_ origin: ScriptedOrigin) -> [String] {
        origin.log.requests.map { request in
            let text = request.headers[.authorization] ?? ""
            return String(text.drop { $0 != "=" }.dropFirst().prefix { $0 != "/" })
        }
    }

    @Test("are read from the file again when it has changed, at most a second later")
    func changedFile() async throws {
        try folder.write(key: "one", secret: "first")
        let source = S3CredentialSource(environment: folder.variables, clock: clock)
        #expect(try await source.current().accessKey == "one")
        #expect(try await source.current().accessKey == "one")
        try folder.write(key: "two", secret: "second")
        #expect(try await source.current().accessKey == "one")
        clock.advance(by: S3CredentialSource.pause)
        #expect(try await source.current().accessKey == "two")
        // A file that is gone or half written for a moment ends nothing.
        try folder.write("credentials", "[default]\naws_access_key_id = three")
        clock.advance(by: S3CredentialSource.pause)
        #expect(try await source.current().accessKey == "two")
        try folder.write(key: "three", secret: "third")
        clock.advance(by: S3CredentialSource.pause)
        #expect(try await source.current().accessKey == "three")
    }

    @Test("are read again when the store refuses them, and the request is sent again", arguments: [401, 403])
    func refusal(_ status: Int) async throws {
        let key = Lock("one")
        let origin = try store(taking: key, status: status)
        try folder.write(key: "one", secret: "first")
        let client = try client(origin, S3CredentialSource(environment: folder.variables, clock: clock))
        let request = TransferRequest(url: origin.url("/images/a"))
        _ = try await client.send(request)
        #expect(try await client.send(request).status == 200)
        try folder.write(key: "two", secret: "second")
        key.withLock { $0 = "two" }
        #expect(try await client.send(request).status == 200)
        #expect(try await client.send(request).status == 200)
        #expect(keys(origin) == ["one", "one", "one", "two", "two"])
        // Without other keys the request isn't sent again.
        key.withLock { $0 = "three" }
        #expect(try await client.send(request).status == status)
        #expect(keys(origin).count == 6)
    }

    @Test("that are refused are read again once for all requests, and at most once a second")
    func storm() async throws {
        let origin = try store(taking: Lock("none"))
        let count = Lock(0)
        let container = try ScriptedOrigin { _ in
            count.withLock { $0 += 1 }
            return .init(body: #"{"AccessKeyId": "key", "SecretAccessKey": "secret"}"#)
        }
        let variables = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": container.url("/").absoluteString]
        let client = try client(
            origin, S3CredentialSource(environment: folder.variables.merging(variables) { $1 }, clock: clock))
        let request = TransferRequest(url: origin.url("/images/a"))
        func all() async throws {
            let statuses = try await withThrowingTaskGroup(returning: Set<Int>.self) { group in
                for _ in 0..<20 { group.addTask { try await client.send(request).status } }
                return try await group.reduce(into: []) { $0.insert($1) }
            }
            #expect(statuses == [403])
        }
        try await all()
        #expect(origin.log.requests.count == 20 && count.withLock { $0 } == 2)
        clock.advance(by: .milliseconds(900))
        try await all()
        #expect(origin.log.requests.count == 40 && count.withLock { $0 } == 2)
        clock.advance(by: .milliseconds(100))
        try await all()
        #expect(origin.log.requests.count == 60 && count.withLock { $0 } == 3)
    }

    @Test("that were fetched are fetched again after a refusal, and at most once a minute")
    func fetched() async throws {
        let (number, clock) = (Lock(0), clock)
        // A token that has expired is a bad request.
        let origin = try store(taking: Lock("key2"), status: 400)
        let container = try ScriptedOrigin { _ in
            let count = number.withLock {
                $0 += 1
                return $0
            }
            let end = clock.now.addingTimeInterval(3600).formatted(.iso8601)
            return .init(
                body: """
                    {"AccessKeyId": "key\(count)", "SecretAccessKey": "secret", "Token": "t", "Expiration": "\(end)"}
                    """)
        }
        let variables = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": container.url("/").absoluteString]
        let client = try client(
            origin, S3CredentialSource(environment: folder.variables.merging(variables) { $1 }, clock: clock))
        let request = TransferRequest(url: origin.url("/images/a"))
        #expect(try await client.send(request).status == 200)
        #expect(keys(origin) == ["key1", "key2"])
        let other = SignedForS3(
            CurlClient(.local), at: try S3Endpoint("http://127.0.0.1:\(origin.port)"), clock: clock
        ) { S3Credentials(accessKey: "other", secretKey: "secret", sessionToken: "t") }
        #expect(try await other.send(request).status == 400)
        #expect(keys(origin).count == 3)
        clock.advance(by: .seconds(1))
        number.withLock { $0 = 5 }
        let refusing = try store(taking: Lock("none"))
        let source = S3CredentialSource(environment: folder.variables.merging(variables) { $1 }, clock: clock)
        let refused = try self.client(refusing, source)
        for pause in [0, 1, 58, 1] {
            clock.advance(by: .seconds(pause))
            _ = try await refused.send(TransferRequest(url: refusing.url("/images/a")))
        }
        #expect(keys(refusing) == ["key6", "key7", "key7", "key7", "key7", "key8"])
    }

    @Test("of a closure are asked for again after a refusal")
    func closure() async throws {
        let origin = try store(taking: Lock("two"))
        let number = Lock(0)
        let client = SignedForS3(
            CurlClient(.local), at: try S3Endpoint("http://127.0.0.1:\(origin.port)"), clock: clock
        ) {
            number.withLock {
                $0 += 1
                return S3Credentials(accessKey: $0 == 1 ? "one" : "two", secretKey: "secret")
            }
        }
        #expect(try await client.send(TransferRequest(url: origin.url("/images/a"))).status == 200)
        #expect(keys(origin) == ["one", "two"])
    }

    @Test("are used for large responses at once, also by a store that verifies signatures", .withS3)
    func blobs() async throws {
        let server = try await S3Server(.rclone)
        let right = S3Server.credentials
        try folder.write(key: right.accessKey, secret: "hunter2")
        let states = Lock<[String]>([])
        let source = S3CredentialSource(environment: folder.variables)
        let blobs = S3Blobs(try server.bucket, deadline: .seconds(30), credentials: source)
        let store = BlobStore(blobs) { state in states.withLock { $0.append("\(state)") } }
        let bytes = Array(repeating: UInt8(1), count: 1000)
        #expect(try await store.write(bytes) == nil)
        try folder.write(key: right.accessKey, secret: right.secretKey)
        // Another process writes the file; the next second hasn't come, or the file is looked at.
        var reference = try await store.write(bytes)
        while reference == nil { reference = try await store.write(bytes) }
        #expect(try await store.bytes(of: try #require(reference)) == bytes)
        #expect(states.withLock { $0 }.allSatisfy { !$0.contains("hunter2") && !$0.contains(right.secretKey) })
    }

    @Test("aren't asked for in each request while they can't be renewed")
    func failing() async throws {
        let (isUp, clock) = (Lock(true), clock)
        let container = try ScriptedOrigin { _ in
            guard isUp.withLock({ $0 }) else { return .init(status: 500) }
            let end = clock.now.addingTimeInterval(3600).formatted(.iso8601)
            return .init(
                body: #"{"AccessKeyId": "key", "SecretAccessKey": "secret", "Token": "t", "Expiration": "\#(end)"}"#)
        }
        let variables = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": container.url("/").absoluteString]
        let source = S3CredentialSource(environment: folder.variables.merging(variables) { $1 }, clock: clock)
        _ = try await source.current()
        isUp.withLock { $0 = false }
        clock.advance(by: .seconds(3400))
        for _ in 0..<20 { #expect(try await source.current().accessKey == "key") }
        await container.until { $0.requests.count == 2 }
        // The failed attempt ends meanwhile.
        for _ in 0..<5000 {
            _ = try await source.current()
            await Task.yield()
        }
        #expect(container.log.requests.count == 2)
    }
}

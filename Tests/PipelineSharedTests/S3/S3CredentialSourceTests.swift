import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import Testing

@testable import PipelineShared

@Suite("Credentials of a container", .timeLimit(.minutes(5)))
struct S3CredentialSourceTests {
    private let clock = ManualClock()

    /// An endpoint whose credentials are numbered and valid for an hour.
    private func endpoint(_ clock: ManualClock, isUp: Lock<Bool> = Lock(true)) throws -> ScriptedOrigin {
        let count = Lock(0)
        return try ScriptedOrigin { _ in
            guard isUp.withLock({ $0 }) else { return .init(status: 500) }
            let number = count.withLock {
                $0 += 1
                return $0
            }
            let end = clock.now.addingTimeInterval(3600).formatted(.iso8601)
            return .init(
                body: """
                    {"AccessKeyId": "key\(number)", "SecretAccessKey": "secret", "Token": "token", "Expiration": "\(end)"}
                    """)
        }
    }

    private func source(_ origin: ScriptedOrigin, _ more: [String: String] = [:]) -> S3CredentialSource {
        var environment = [
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": origin.url("/role").absoluteString,
            "AWS_SHARED_CREDENTIALS_FILE": "/nowhere", "AWS_EC2_METADATA_DISABLED": "true",
        ]
        environment.merge(more) { $1 }
        return S3CredentialSource(environment: environment, clock: clock)
    }

    @Test("are fetched once, with the token of a file that is read each time")
    func token() async throws {
        let path = NSTemporaryDirectory() + "token-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try "first\n".write(toFile: path, atomically: true, encoding: .utf8)
        let origin = try endpoint(clock)
        let source = source(origin, ["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": path])
        let all = try await withThrowingTaskGroup { group in
            for _ in 0..<8 { group.addTask { try await source.current() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(all.map(\.accessKey)) == ["key1"])
        #expect(all[0].sessionToken == "token")
        try "second".write(toFile: path, atomically: true, encoding: .utf8)
        clock.advance(by: .seconds(3600))
        #expect(try await source.current().accessKey == "key2")
        #expect(origin.log.requests.map { $0.headers[.authorization] } == ["first", "second"])
    }

    @Test("are fetched again before they expire, while the old ones are used")
    func renewal() async throws {
        let isUp = Lock(true)
        let origin = try endpoint(clock, isUp: isUp)
        let source = source(origin)
        #expect(try await source.current().accessKey == "key1")
        clock.advance(by: .seconds(3200))
        #expect(try await source.current().accessKey == "key1")
        #expect(origin.log.requests.count == 1)
        isUp.withLock { $0 = false }
        clock.advance(by: .seconds(200))
        #expect(try await source.current().accessKey == "key1")
        await origin.until { $0.requests.count == 2 }
        clock.advance(by: .seconds(200))
        // It joins the failed attempt, which may still be ending, or makes another.
        await #expect(throws: LoadError.self) { try await source.current() }
        isUp.withLock { $0 = true }
        // An attempt that was given up may have been given a number too.
        #expect(try await source.current().accessKey != "key1")
    }

    @Test("aren't asked of another machine over http, and show no token in errors")
    func refusal() async throws {
        for (url, isAllowed) in [("http://example.com/role", false), ("http://127.0.0.1:1/role", true)] {
            let source = S3CredentialSource(environment: [
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": url, "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
                "AWS_CONTAINER_AUTHORIZATION_TOKEN": "hunter2",
            ])
            let error = await #expect(throws: LoadError.self) { try await source.current() }
            #expect(error?.code == (isAllowed ? .unreachable : .refused))
            #expect(error.map { "\($0)".contains("hunter2") } == false)
        }
    }

    @Test("come after the environment's and the file's")
    func order() async throws {
        let origin = try endpoint(clock)
        let source = source(origin, ["AWS_ACCESS_KEY_ID": "one", "AWS_SECRET_ACCESS_KEY": "first"])
        #expect(try await source.current().accessKey == "one")
        #expect(origin.log.requests.isEmpty)
    }

    @Test("that are malformed are refused")
    func malformed() async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "{}") }
        let error = await #expect(throws: LoadError.self) { try await source(origin).current() }
        #expect(error?.message.contains("malformed") == true)
    }
}

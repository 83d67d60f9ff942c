import Digests
import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import Testing

@testable import PipelineShared

@Suite("Large responses in S3", .withS3, .timeLimit(.minutes(5)))
struct S3BlobsTests {
    private static let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    private func store(_ blobs: S3Blobs, states: Lock<[String]> = Lock([])) -> BlobStore {
        BlobStore(blobs) { state in states.withLock { $0.append("\(state)") } }
    }

    @Test("are named by their digest, written once, and read back", arguments: S3Server.Kind.allCases)
    func writing(_ kind: S3Server.Kind) async throws {
        let server = try await S3Server(kind)
        let (first, second) = (store(try server.blobs()), store(try server.blobs()))
        let reference = try #require(try await first.write(Self.bytes))
        #expect(try await second.write(Self.bytes) == reference)
        #expect(try await server.names() == [reference.name])
        #expect(try await second.bytes(of: reference) == Self.bytes)
        #expect(BlobReference(reference.bytes) == reference)
        #expect(reference.name == SHA256.hexadecimal(SHA256.digest(Self.bytes)))
    }

    @Test("that are missing aren't found, and damaged ones are deleted and can be written again")
    func damage() async throws {
        let server = try await S3Server(.moto)
        let store = store(try server.blobs())
        let reference = BlobReference(to: Self.bytes)
        #expect(try await store.bytes(of: reference) == nil)
        for damaged in [Array(Self.bytes.dropLast()), Self.bytes + [1], Self.bytes.reversed()] {
            try await server.send(.put, "fleet/\(reference.name)", body: damaged)
            #expect(try await store.bytes(of: reference) == nil)
            #expect(try await server.names() == [])
            #expect(try await store.write(Self.bytes) == reference)
            #expect(try await store.bytes(of: reference) == Self.bytes)
        }
    }

    @Test("aren't written beyond the limit")
    func limit() async throws {
        let server = try await S3Server(.moto)
        #expect(try await store(try server.blobs(bytes: 299_999)).write(Self.bytes) == nil)
        #expect(try await server.names() == [])
    }

    @Test("with the wrong key are refused, which is reported once and then not tried for a while")
    func wrongKey() async throws {
        let server = try await S3Server(.rclone)
        let states = Lock<[String]>([])
        let store = store(
            try server.blobs(credentials: S3Credentials(accessKey: "images", secretKey: "hunter2")), states: states)
        for _ in 0..<5 { #expect(try await store.write(Self.bytes) == nil) }
        #expect(states.withLock { $0 }.count == 1)
        #expect(states.withLock { $0 }.allSatisfy { $0.contains("403") && !$0.contains("hunter2") })
        #expect(try await server.names() == [])
    }

    @Test(
        "that may not be read are reported and not found, and wrong keys are a failure",
        arguments: [
            ("<Error><Code>AccessDenied</Code></Error>", "refuses to read"), ("", "refuses to read"),
            ("<Error><Code>InvalidAccessKeyId</Code></Error>", "these credentials (403)"),
        ])
    func unreadable(_ body: String, _ words: String) async throws {
        let origin = try ScriptedOrigin { request in
            request.method == "GET" ? .init(status: 403, body: body) : .init(status: 412)
        }
        let bucket = try S3Bucket("s3://images?endpoint=http://127.0.0.1:\(origin.port)", environment: [:])
        let states = Lock<[String]>([])
        let store = store(S3Blobs(bucket) { S3Server.credentials }, states: states)
        for _ in 0..<3 { #expect(try await store.bytes(of: BlobReference(to: Self.bytes)) == nil) }
        let isReadable = words != "refuses to read"
        #expect(states.withLock { $0 }.count == (isReadable ? 1 : 3))
        // The store itself works.
        #expect(try await (store.write(Self.bytes) == nil) == isReadable)
    }

    @Test("are inspected: whether a missing one is told from one that may not be read", arguments: [403, 404])
    func inspecting(_ status: Int) async throws {
        let objects = Lock<[String: [UInt8]]>([:])
        let origin = try ScriptedOrigin { request in
            let known = objects.withLock { $0[request.path] }
            switch request.method {
            case "GET": return known.map { .init(body: $0) } ?? .init(status: status)
            case "PUT" where known != nil && request.headers[.ifNoneMatch] != nil: return .init(status: 412)
            default: objects.withLock { $0[request.path] = request.method == "PUT" ? request.body : nil }
            }
            return .init(status: 200)
        }
        let bucket = try S3Bucket("s3://images?endpoint=http://127.0.0.1:\(origin.port)", environment: [:])
        let inspected = try await store(S3Blobs(bucket) { S3Server.credentials }).inspect()
        #expect(inspected.isConditional && inspected.tellsMissing == (status == 404))
    }

    @Test("are all deleted, and nothing else is", arguments: ["fleet", ""])
    func removing(_ prefix: String) async throws {
        let server = try await S3Server(.moto)
        let bucket = try S3Bucket(
            "s3://images/\(prefix)?endpoint=\(server.endpoint.url)&region=eu-central-1", environment: [:])
        let store = store(S3Blobs(bucket) { S3Server.credentials })
        #expect(try await store.removeAll() == 0)
        for number in 0..<20 { #expect(try await store.write(Self.bytes + [UInt8(number)]) != nil) }
        let digest = String(repeating: "a", count: 64)
        let others = ["cat.png", "fleet/cat.png", "fleet/other/\(digest)", "fleet/x\(digest)", "fleet2/\(digest)"]
        for other in others { try await server.send(.put, other, body: [1]) }
        #expect(try await store.removeAll() == 20)
        let list = String(decoding: try await server.send(.get, "").body, as: UTF8.self)
        #expect(list.matches(of: /<Key>([^<]*)<\/Key>/).map { String($0.1) } == others.sorted())
    }

    @Test("are all deleted, of each kind of store", arguments: S3Server.Kind.allCases)
    func emptying(_ kind: S3Server.Kind) async throws {
        let server = try await S3Server(kind)
        let store = store(try server.blobs())
        for number in 0..<3 { #expect(try await store.write(Self.bytes + [UInt8(number)]) != nil) }
        #expect(try await store.removeAll() == 3)
        #expect(try await server.names() == [])
    }

    @Test("are deleted page by page, below a prefix with any characters")
    func pages() async throws {
        let name = BlobReference(to: Self.bytes).name
        let origin = try ScriptedOrigin { request in
            guard request.method == "GET" else { return .init(status: 204) }
            let isLast = request.target.contains("continuation-token=a%2B%26b")
            return .init(
                body: """
                    <?xml version="1.0"?><ListBucketResult><IsTruncated>\(!isLast)</IsTruncated>\
                    <Contents><Key>a &amp; b/\(isLast ? name : "cat.png")</Key></Contents>\
                    \(isLast ? "" : "<NextContinuationToken>a+&amp;b</NextContinuationToken>")</ListBucketResult>
                    """)
        }
        let bucket = try S3Bucket("s3://images/a%20&%20b?endpoint=http://127.0.0.1:\(origin.port)", environment: [:])
        #expect(try await store(S3Blobs(bucket) { S3Server.credentials }).removeAll() == 1)
        let requests = origin.log.requests
        #expect(requests.map(\.method) == ["GET", "GET", "DELETE"])
        #expect(requests.first?.target.contains("prefix=a%20%26%20b%2F") == true)
        #expect(requests.last?.path == "/images/a%20%26%20b/\(name)")
    }

    @Test(
        "aren't deleted if the store's list can't be used, which says what to change",
        arguments: [
            (.init(status: 403), "s3:ListBucket"), (.init(body: "<html>"), "malformed"),
            (
                .init(
                    body:
                        "<IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken>"),
                "doesn't end"
            ),
            (.init(body: "<IsTruncated>true</IsTruncated>"), "malformed"), (.init(status: 500), "500"),
        ] as [(ScriptedOrigin.Reply, String)])
    func badList(_ reply: ScriptedOrigin.Reply, _ words: String) async throws {
        let origin = try ScriptedOrigin { _ in reply }
        let bucket = try S3Bucket("s3://images?endpoint=http://127.0.0.1:\(origin.port)", environment: [:])
        let error = await #expect(throws: LoadError.self) {
            try await store(S3Blobs(bucket) { S3Server.credentials }).removeAll()
        }
        #expect(
            error?.code == .storeFailed && error.map { "\($0)".contains(words) } == true, "\(error.debugDescription)")
    }

    @Test("are written unconditionally where the store doesn't know the condition")
    func unknownCondition() async throws {
        let origin = try ScriptedOrigin { request in
            .init(status: request.headers[.ifNoneMatch] == nil ? 200 : 501)
        }
        let bucket = try S3Bucket("s3://images?endpoint=http://127.0.0.1:\(origin.port)", environment: [:])
        let store = store(S3Blobs(bucket) { S3Server.credentials })
        for number in 0..<2 { #expect(try await store.write(Self.bytes + [UInt8(number)]) != nil) }
        #expect(origin.log.requests.map { $0.headers[.ifNoneMatch] } == ["*", nil, nil])
    }

    @Test("cost no time while the store fails: three failures, then a probe after a pause")
    func breaker() async throws {
        let isUp = Lock(false)
        let origin = try ScriptedOrigin { _ in .init(status: isUp.withLock { $0 } ? 200 : 503) }
        let bucket = try S3Bucket("s3://images?endpoint=http://127.0.0.1:\(origin.port)", environment: [:])
        let (clock, states) = (ManualClock(), Lock<[String]>([]))
        let store = store(S3Blobs(bucket, clock: clock) { S3Server.credentials }, states: states)
        for _ in 0..<5 { #expect(try await store.write(Self.bytes) == nil) }
        #expect(origin.log.requests.count == 3)
        clock.advance(by: .milliseconds(500))
        #expect(try await store.write(Self.bytes) == nil)
        #expect(try await store.write(Self.bytes) == nil)
        #expect(origin.log.requests.count == 4)
        isUp.withLock { $0 = true }
        clock.advance(by: .seconds(1))
        for _ in 0..<2 { #expect(try await store.write(Self.bytes) != nil) }
        #expect(states.withLock { $0 }.count == 2)
    }

    @Test("that the store doesn't send in time are given up")
    func deadline() async throws {
        let origin = try ScriptedOrigin { _ in ScriptedOrigin.Reply(body: "x").stalled() }
        let bucket = try S3Bucket("s3://images?endpoint=http://127.0.0.1:\(origin.port)", environment: [:])
        let store = store(S3Blobs(bucket, clock: HastyLimits()) { S3Server.credentials })
        #expect(try await store.bytes(of: BlobReference(to: Self.bytes)) == nil)
    }

    /// A clock on which time limits are over at once.
    private struct HastyLimits: LoadClock {
        private let clock = SystemClock()
        var now: Date { clock.now }
        var uptimeNanoseconds: Int64 { clock.uptimeNanoseconds }

        func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }

        func sleep(untilLimit duration: Duration) async throws { try Task.checkCancellation() }
    }
}

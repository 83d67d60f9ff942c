import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineShared
import Stages

/// Prints how many bytes Redis uses for a response, by its size and its tags.
enum FleetSizes {
    private static let count = 500

    static func run() async throws {
        for size in [1000, 10_000, 20_000, 100_000, 250_000] {
            print("\(size) bytes: \(try await bytes(size)) in Redis")
        }
        let (plain, shared, own) = (
            try await bytes(1000), try await bytes(1000) { _ in "sale" }, try await bytes(1000) { "\($0)" }
        )
        print("a tag that all have: \(shared - plain) each; a tag that no other has: \(own - plain)")
        guard S3Server.isInstalled else { return }
        let server = try await S3Server(.moto)
        print("300000 bytes, in a bucket: \(try await bytes(300_000, blobs: try server.blobs())) in Redis")
    }

    private static func bytes(
        _ size: Int, blobs: S3Blobs? = nil, tag: ((Int) -> String)? = nil
    ) async throws -> Int {
        let server = try RedisServer()
        let fleet = Fleet(server.address, blobs: blobs, connecting: RedisLimits(request: .seconds(10)))
        // Scripts and connections count once.
        try await store(0, size, fleet, tag)
        let before = try await fleet.inspectServer()?.usedBytes ?? 0
        let count = blobs == nil ? Self.count : 50
        for number in 1...count { try await store(number, size, fleet, tag) }
        return ((try await fleet.inspectServer()?.usedBytes ?? 0) - before) / count
    }

    private static func store(_ number: Int, _ size: Int, _ fleet: Fleet, _ tag: ((Int) -> String)?) async throws {
        guard let url = URL(string: "https://images.example.com/products/\(100_000 + number)/front.jpg"),
            let key = SourceKey(ImageRequest(url))
        else { throw TrialFailure("no URL") }
        var headers: HTTPFields = [
            .cacheControl: "max-age=86400", .contentType: "image/jpeg", .eTag: "\"\(100_000 + number)\"",
            .date: "Mon, 23 Nov 2026 12:00:00 GMT", .lastModified: "Sun, 22 Nov 2026 12:00:00 GMT",
            .contentLength: "\(size)",
        ]
        if let tag, let name = HTTPField.Name("Cache-Tag") { headers[name] = tag(number) }
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
        let exchange = HTTPExchange(
            url: url, status: 200, headers: headers, requestTime: Date(), responseTime: Date(), body: body)
        guard await fleet.cache.commit(exchange, for: key) != nil else { throw TrialFailure("nothing was stored") }
    }
}

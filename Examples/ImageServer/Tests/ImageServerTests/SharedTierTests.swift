import Foundation
import HTTPTypes
import PipelineTesting
import Stages
import Testing

@testable import ImageServer
@testable import PipelineServer

@Suite("Servers that share a tier", .timeLimit(.minutes(5)))
struct SharedTierTests {
    @Test(
        "They ask the origin once, and answer with the same bytes",
        .enabled("redis-tools isn't installed") { FileManager.default.isExecutableFile(atPath: Redis.path) })
    func sharedTier() async throws {
        let (origin, redis) = (try ScriptedOrigin(), try Redis())
        // Larger responses need a bucket.
        let small = Picture.png(PixelSize(width: 200, height: 150), with: [200, 40, 90])
        origin.route("/a.png") { _ in
            .init(headers: [.contentType: "image/png", .cacheControl: "max-age=600"], body: small)
        }
        let path = "/thumb/100x100/" + origin.url("/a.png").absoluteString.percentEncoded
        let options = ["--unsigned", "--allow", origin.url("/").absoluteString, "--shared", redis.url]
        var bodies: Set<[UInt8]> = []
        for _ in 0..<2 {
            try await withServer(options) { (server: RunningServer) async throws in
                let answer = try await server.get(path)
                #expect(answer.status == 200)
                bodies.insert(answer.body)
                let metrics = try await server.get("/metrics")
                #expect(String(decoding: metrics.body, as: UTF8.self).contains("pipeline_fleet_lookups"))
            }
        }
        #expect(bodies.count == 1)
        #expect(origin.log.requests.count == 1)
        let size = try await DecodedImage(decoding: bodies.first ?? []).size
        #expect(size == PixelSize(width: 100, height: 75))
        withExtendedLifetime(redis) {}
    }
}

/// A Redis server that ends with the test.
private final class Redis {
    /// The program goes by the name under which it is called.
    static let path = "/usr/bin/redis-check-rdb"
    let url: String
    private let folder = FileManager.default.temporaryDirectory.appending(path: "redis-\(UUID().uuidString.prefix(8))")
    private let process = Process()

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let socket = folder.appending(path: "redis").path
        url = "unix://" + socket
        let program = folder.appending(path: "redis-server")
        try FileManager.default.createSymbolicLink(
            at: program, withDestinationURL: URL(filePath: Self.path))
        process.executableURL = program
        process.arguments = ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder.path]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        while !FileManager.default.fileExists(atPath: socket), process.isRunning {}
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        try? FileManager.default.removeItem(at: folder)
    }
}

import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineShared
import PipelineTesting
import Testing

@testable import CacheTrials

/// `FLEET_LOADS=200 FLEET_IMAGES=100` asks for as many as a service does that has just started.
@Suite("Processes that share a tier", .withRedis, .timeLimit(.minutes(5)))
struct FleetProcessesTests {
    private static func number(_ name: String, _ otherwise: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? otherwise
    }

    @Test("fetch each image once in all, and make each result once in all")
    func coldStart() async throws { try await coldStart(bucket: nil) }

    @Test("do so with images that are too large for Redis", .withS3)
    func large() async throws {
        let server = try await S3Server(.moto)
        try await coldStart(bucket: "s3://images/fleet?endpoint=\(server.endpoint.url)")
        let images = Self.number("FLEET_IMAGES", 25)
        #expect(try await server.names().count == images / 2)
    }

    private func coldStart(bucket: String?) async throws {
        let (loads, images) = (Self.number("FLEET_LOADS", 50), Self.number("FLEET_IMAGES", 25))
        let server = try RedisServer()
        let origin = try ScriptedOrigin { request in
            let number = Int(request.path.dropFirst().prefix { $0 != "." }) ?? 0
            let size = FleetMember.size(number, hasBlobs: bucket != nil)
            let picture = Picture.png(size, with: FleetMember.colour(number))
            return .init(headers: [.cacheControl: "max-age=600", .eTag: "\"\(number)\""], body: picture)
        }
        let processes = try (0..<8).map { seed in
            try Member(
                ["fleet", server.socket, "\(origin.port)", "\(seed)", "\(loads)", "\(images)", "60000"]
                    + (bucket.map { [$0] } ?? []))
        }
        var encodes = 0
        for process in processes {
            let (status, said) = await process.end()
            #expect(status == 0, "\(said)")
            encodes += Int(said.split(separator: "\n").last ?? "") ?? 0
        }
        #expect(origin.log.requests.count == images)
        #expect(encodes == images * FleetMember.sides.count)
    }

    @Test("fetch once more for each lease whose holder was killed, and lose no load")
    func killedHolder() async throws {
        let server = try RedisServer()
        let requests = Lock<[String: Int]>([:])
        let images = 3
        let origin = try ScriptedOrigin { request in
            let number = Int(request.path.dropFirst().prefix { $0 != "." }) ?? 0
            let picture = Picture.png(PixelSize(width: 128, height: 96), with: FleetMember.colour(number))
            let reply = ScriptedOrigin.Reply(headers: [.cacheControl: "max-age=600"], body: picture)
            let count = requests.withLock { requests in
                requests[request.path, default: 0] += 1
                return requests[request.path]
            }
            // The first holder never gets its response.
            return count == 1 ? reply.stalled() : reply
        }
        func member(_ seed: Int) throws -> Member {
            let loads = images * FleetMember.sides.count
            return try Member(["fleet", server.socket, "\(origin.port)", "\(seed)", "\(loads)", "\(images)", "500"])
        }
        let holder = try member(0)
        await origin.until { $0.requests.count == images }
        let waiters = try (1...3).map { try member($0) }
        try await server.listeners(images)
        holder.kill()
        for waiter in waiters {
            let (status, said) = await waiter.end()
            #expect(status == 0, "\(said)")
        }
        #expect(origin.log.requests.count == 2 * images)
        _ = await holder.end()
    }

    /// A process of the trials.
    private struct Member {
        private let process = Process()
        private let output = Pipe()

        init(_ arguments: [String]) throws {
            process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appending(path: "CacheTrials")
            process.arguments = arguments
            process.standardOutput = output
            process.standardError = output
            try process.run()
        }

        /// Ends the process without a chance to give anything back.
        func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

        /// What the process has said until its end, read on a thread of its own: waiting blocks.
        func end() async -> (status: Int32, said: String) {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    let said = (try? output.fileHandleForReading.readToEnd()) ?? Data()
                    process.waitUntilExit()
                    continuation.resume(
                        returning: (process.terminationStatus, String(decoding: said, as: UTF8.self)))
                }
            }
        }
    }
}

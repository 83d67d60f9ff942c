import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages

/// Serves a photograph over HTTP on this machine, makes a thumbnail of it, and measures how later loads find it.
///
/// The arguments are the photograph's path and a folder for the output.
@main
struct Demo {
    /// The server's response time, as for one on the same continent.
    static let latency = 0.05

    let origin: ScriptedOrigin
    let photo: URL
    let folder: URL
    let clock = ShiftedClock()

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else {
            print("usage: Demo PHOTOGRAPH FOLDER")
            exit(2)
        }
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: arguments[1])))
        let demo = try Demo(serving: bytes, folder: URL(filePath: arguments[2], directoryHint: .isDirectory))
        try await demo.run()
    }

    init(serving bytes: [UInt8], folder: URL) throws {
        origin = try ScriptedOrigin { request in
            Thread.sleep(forTimeInterval: Self.latency)
            let fields: HTTPFields = [
                .eTag: "\"seeding\"", .cacheControl: "max-age=60", .contentType: "image/jpeg",
            ]
            let unchanged = request.headers[.ifNoneMatch] == "\"seeding\""
            return unchanged ? .init(status: 304, headers: fields) : .init(headers: fields, body: bytes)
        }
        photo = origin.url("/seeding.jpg")
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try? FileManager.default.removeItem(at: cacheFolder)
    }

    var cacheFolder: URL { folder.appending(path: "cache", directoryHint: .isDirectory) }

    /// The resources of a program that has just started: an empty memory cache over the cache on disk.
    func resources() -> PipelineResources {
        PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: cacheFolder.path, clock: clock),
            client: CurlClient(.init(addresses: .any)))
    }

    func run() async throws {
        let first = resources()
        print("The thumbnail is in \(try await thumbnail(first)).\n")
        await first.responses.removeAll()
        let list = ImagePipeline.returnCacheElseLoad(first)
        print("The same photograph, loaded five times by lists like this one:\n\n\(list)\n")

        let second = resources()
        var rows = [["", "milliseconds", "requests", "source"]]
        rows.append(try await measured("network", list))
        rows.append(try await measured("disk, after a restart", .returnCacheElseLoad(second)))
        rows.append(try await measured("memory", .returnCacheElseLoad(second)))
        clock.shift(by: 120)
        rows.append(try await measured("revalidated, once it has expired", .useProtocol(second)))
        rows.append(try await measured("offline", .returnCacheDontLoad(second)))
        for row in rows {
            let cells = zip(row, [34, 14, 10]).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
            print(cells.joined() + row[3])
        }
        print("\nThe server takes \(Int(Self.latency * 1000)) ms to answer.")
        await second.responses.close()
        origin.stop()
    }

    /// Makes a thumbnail of the photograph.
    /// - Returns: Its path.
    func thumbnail(_ resources: PipelineResources) async throws -> String {
        let encoding = ImagePipeline.returnCacheElseLoad(resources).inserting(Encode(.jpeg), before: Store.self)
        let response = try await encoding.load(ImageRequest(photo, maxPixelSize: 640))
        let path = folder.appending(path: "thumbnail.jpg")
        try Data(response.encoded?.bytes ?? []).write(to: path)
        return path.path
    }

    /// Loads the photograph, and returns the time, the number of requests and the source as a row of the table.
    func measured(_ title: String, _ pipeline: ImagePipeline) async throws -> [String] {
        let before = origin.log.requests.count
        let begin = ContinuousClock.now
        let response = try await pipeline.load(ImageRequest(photo, maxPixelSize: 640))
        let time = (ContinuousClock.now - begin) / .milliseconds(1)
        return [
            title, String(format: "%.2f", time), "\(origin.log.requests.count - before)", response.source.rawValue,
        ]
    }
}

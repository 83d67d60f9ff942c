import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages

/// Serves a photograph over HTTP on this machine and loads it through each policy, showing what happened.
///
/// Give it the photograph's path and a folder for what it writes.
@main
struct Demo {
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

    /// Resources as a program has them that has just started: nothing in memory, whatever is on disk.
    func resources() -> PipelineResources {
        PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: cacheFolder.path, clock: clock),
            client: CurlClient(.init(addresses: .any)), clock: clock)
    }

    func run() async throws {
        let first = resources()
        print("The photograph is at \(photo). The policy returnCacheElseLoad is this list:\n")
        print("\(ImagePipeline.returnCacheElseLoad(first))\n")

        await show("returnCacheElseLoad, for the first time", .returnCacheElseLoad(first))
        let second = resources()
        await show("returnCacheElseLoad, in a restarted program", .returnCacheElseLoad(second))
        await show("returnCacheElseLoad, once more in the same program", .returnCacheElseLoad(second))
        clock.shift(by: 120)
        await show("useProtocol, two minutes later: the server allowed one", .useProtocol(second))
        await show("returnCacheDontLoad", .returnCacheDontLoad(second))
        await second.responses.removeAll()
        await show("returnCacheDontLoad, with nothing cached", .returnCacheDontLoad(resources()))
        await show("ignoreCache", .ignoreCache(second))
        print("\(origin.log.requests.count) requests reached the origin.")

        let thumbnail = folder.appending(path: "thumbnail.jpg")
        let encoding = ImagePipeline.returnCacheElseLoad(second).inserting(Encode(.jpeg), before: Store.self)
        let response = try await encoding.load(ImageRequest(photo, maxPixelSize: 640))
        try Data(response.encoded?.bytes ?? []).write(to: thumbnail)
        print("The thumbnail is in \(thumbnail.path).")
        await second.responses.close()
        origin.stop()
    }

    func show(_ title: String, _ pipeline: ImagePipeline) async {
        print("— \(title)")
        do {
            let response = try await pipeline.load(ImageRequest(photo, maxPixelSize: 640))
            let (size, native) = (response.size.map { "\($0)" } ?? "", response.nativeSize.map { "\($0)" } ?? "")
            print("  \(size) of \(native), from \(response.source.rawValue)")
            print(indented(response.trace))
        } catch let error as LoadError {
            print("  \(error.code): \(error.message)")
            print(indented(error.trace))
        } catch {
            print("  \(error)")
        }
    }

    func indented(_ trace: Trace) -> String {
        trace.description.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n") + "\n"
    }
}

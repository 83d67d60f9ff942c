import Foundation
import PipelineIsolation
import QOI
import Stages
import Testing

@Suite("Decoding in processes of its own")
final class IsolationTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func picture(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Tests/Images/good/\(name)").standardizedFileURL.path
    }

    @Test("A loader of isolated codecs reads SVG and JPEG XL too")
    func loader() async throws {
        let pool = try await DecoderPool()
        let codecs = try ImageCodecs.standard.adding(.svg).adding(.jxl).isolated(in: pool)
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: folder), client: CurlClient(), codecs: codecs)
        let loader = ImageLoader(resources)
        for name in ["photo-12mp-baseline-420.jpg", "svg-shapes.svg", "jxl.jxl"] {
            let image = try await loader.load(.file(picture(name))).image
            #expect(max(image.width, image.height) == 300, "\(name)")
        }
        await loader.shutdown()
        await pool.close()
        #expect(pool.statistics.deaths == 0)
    }

    @Test(
        "A program without a helper is confined alone in a folder, as an ordinary user, and without privileges",
        .enabled(if: getuid() == 0),
        arguments: [
            [], ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"],
            ["setpriv", "--no-new-privs", "--bounding-set", "-all", "--inh-caps", "-all"],
            ["unshare", "--user", "--map-root-user", "--net", "--ipc"],
            // With the system calls that a container has.
            [profile, "current"],
            [profile, "current", "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"],
            [profile, "current", "setpriv", "--no-new-privs", "--bounding-set", "-all", "--inh-caps", "-all"],
        ])
    func alone(words: [String]) throws {
        #expect(try printed(by: words) == "200×148, decoded in a confined process\n")
    }

    @Test(
        "A program that requires confinement says what an older container's profile refuses",
        .enabled(if: getuid() == 0))
    func olderContainer() throws {
        let text = try printed(by: [Self.profile, "without-landlock"])
        #expect(text.contains("This system can't confine the processes that decode: no files (Landlock) is missing."))
    }

    private static let built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    private static let profile = built.appending(path: "ContainerProfile").path

    /// What the example prints that is run by other programs, alone in a folder.
    private func printed(by words: [String]) throws -> String {
        let folder = URL(filePath: self.folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: Self.built.appending(path: "Confined"), to: folder.appending(path: "program"))
        try FileManager.default.copyItem(
            at: URL(filePath: picture("jpeg-cmyk-icc.jpg")), to: folder.appending(path: "photo.jpg"))
        for path in [folder.path, folder.path + "/photo.jpg"] { chmod(path, 0o777) }
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words + ["\(folder.path)/program", "photo.jpg", "thumbnail.webp"]
        process.currentDirectoryURL = folder
        process.standardOutput = output
        try process.run()
        process.waitUntilExit()
        return String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }

    @Test("A format from outside of the library is decoded by a helper that knows it")
    func ownFormat() async throws {
        let codecs = ImageCodecs.standard.adding(.qoi)
        let image = DecodedImage(size: 9, layout: .rgb, pixels: (0..<243).map { UInt8($0) })
        let file = try await EncodedImage(encoding: image, as: ImageCodec.qoi.format, codecs: codecs).bytes
        let helper = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "QOIWorker").path
        let pool = try await DecoderPool(workers: 1, helper: helper)
        let decoded = try await DecodedImage(decoding: file, codecs: try codecs.isolated(in: pool))
        #expect(decoded.frames == image.frames)
        await pool.close()

        let standard = try await DecoderPool(workers: 1)
        #expect(throws: LoadError.self) { try codecs.isolated(in: standard) }
        await standard.close()
    }
}

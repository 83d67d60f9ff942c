import CSandbox
import Foundation
import LibC
import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineIsolation

@Suite("What a helper opens")
struct PreparationTests {
    /// The shared libraries that a process has open.
    private func libraries(of process: Int32) throws -> Set<String> {
        let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(process)/maps"))
        let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        let files = maps.split(separator: "\n").compactMap { $0.split(separator: "/").last }
        return Set(files.filter { $0.contains(".so") }.map { String($0.prefix { $0 != "." }) })
    }

    private func decode(_ name: String, _ codecs: ImageCodecs) async throws {
        _ = try await DecodedImage(
            decoding: [UInt8](Data(contentsOf: URL(filePath: Pictures.path("good/\(name)")))), maxPixelSize: 64,
            codecs: codecs)
    }

    @Test("is what the files need that have come, and stays open for the workers after that")
    func onDemand() async throws {
        let pool = try await Corpus.pool(workers: 1)
        let codecs = try ImageCodecs.standard.isolated(in: pool)
        let helper = try #require(pool.helperProcess)
        let loaded: Set = ["libvips", "libtiff", "libavif", "libheif", "librsvg-2", "libjxl"]
        for name in [
            "jpeg-greyscale.jpg", "png-tbbn3p08.png", "webp-lossy.webp", "gif-animated.gif", "bmp-rgb24.bmp",
            "jpeg-icc-display-p3.jpg",
        ] {
            try await decode(name, codecs)
        }
        #expect(try libraries(of: helper).isDisjoint(with: loaded))
        #expect(pool.statistics.started == 1)
        try await decode("tiff-deflate-strip.tif", codecs)
        #expect(try libraries(of: helper).intersection(loaded) == ["libtiff"])
        #expect(pool.statistics.started == 2)
        // Inks are converted by libvips, which the file's first bytes don't say.
        try await decode("jpeg-cmyk-icc.jpg", codecs)
        let opened = try libraries(of: helper)
        #expect(opened.isSuperset(of: ["libtiff", "libvips"]), "\(opened.sorted())")
        #expect(pool.statistics.started == 3)
        try await decode("tiff-deflate-strip.tif", codecs)
        try await decode("jpeg-cmyk-icc.jpg", codecs)
        #expect(pool.statistics.started == 3)
        #expect(pool.helperProcess == helper)
        await pool.close()
    }

    @Test("comes from another helper too, once one was killed")
    func afterDeath() async throws {
        let pool = try await Corpus.pool(workers: 1)
        let codecs = try ImageCodecs.standard.isolated(in: pool)
        try await decode("tiff-deflate-strip.tif", codecs)
        kill(try #require(pool.helperProcess), SIGKILL)
        try await decode("jpeg-cmyk-icc.jpg", codecs)
        try await decode("tiff-deflate-strip.tif", codecs)
        await pool.close()
    }

    @Test("is nothing more once its program has ended, also if that hadn't read a reply", .timeLimit(.minutes(1)))
    func unreadReply() async throws {
        var (process, control): (Int32, Int32) = (0, -1)
        #expect(csandbox_spawn(Corpus.helper("pipeline-decoder"), &process, &control) == 0)
        // The greeting stays unread, so that the socket is reset and not only closed.
        var wait = pollfd(fd: control, events: Int16(POLLIN), revents: 0)
        while poll(&wait, 1, 0) == 0 { await Task.yield() }
        close(control)
        var (status, ended): (Int32, Int32) = (0, 0)
        while ended == 0 {
            ended = waitpid(process, &status, WNOHANG)
            await Task.yield()
        }
        #expect(ended == process)
        #expect(status == 0)
    }
}

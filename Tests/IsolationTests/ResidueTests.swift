import Foundation
import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineIsolation

@Suite("What is left of an image in its worker", .onLinux)
struct ResidueTests {
    private static let token = "the-secret-of-another-user"
    private static let search = "search \(String(token.reversed()))"

    /// Files with the token in pixels, in texts, or behind their end.
    private func secrets() async throws -> [[UInt8]] {
        let size = PixelSize(width: 260, height: 40)
        let row = Array(String(repeating: Self.token, count: 30).utf8)
        let pixels = (0..<size.height).flatMap { _ in row }
        let picture = DecodedImage(size: size, layout: .rgb, pixels: pixels)
        var lossless = EncodeOptions()
        lossless.webp.lossless = true
        var files = [
            try await EncodedImage(encoding: picture, as: .png).bytes,
            try await EncodedImage(encoding: picture, as: .webp, options: lossless).bytes,
            Array(
                """
                <svg xmlns="http://www.w3.org/2000/svg" width="90" height="40"><!-- \(Self.token) -->
                <text y="20" id="\(Self.token)">\(Self.token)</text></svg>
                """.utf8),
            Escaping.file("nothing \(Self.token)"), Escaping.file("fail \(Self.token)"),
        ]
        let others = try Corpus.files("good").filter { $0.bytes.count < 200_000 }
        for other in others.prefix(20) { files.append(other.bytes + Array(" \(Self.token)".utf8)) }
        return files
    }

    #if !SANITIZE  // Its allocator keeps freed memory as it was.
    @Test("A worker that is taken over finds no byte of the images before it")
    func earlierImages() async throws {
        // Small slabs, which are searched sooner.
        let limits = ImageLimits(pixels: 1_000_000, encodedBytes: 1_000_000)
        let pool = try await Corpus.pool(workers: 1, limits: limits, helper: "EscapingDecoder")
        let codecs = try Escaping.codecs(in: pool)
        let secrets = try await secrets()
        // Afterwards a worker has all libraries.
        for file in secrets { _ = try? await DecodedImage(decoding: file, codecs: codecs) }
        let started = pool.statistics.started
        for file in secrets {
            _ = try? await ImageMetadata(of: file, codecs: codecs)
            _ = try? await DecodedImage(decoding: file, codecs: codecs)
            let error = await #expect(throws: LoadError.self, "\(file.count) bytes") {
                try await DecodedImage(decoding: Escaping.file(Self.search), codecs: codecs)
            }
            #expect(error?.code.rawValue == "failedAttempt")
        }
        // All were in the same worker, and it would find what is there.
        #expect(pool.statistics.started == started)
        #expect(
            try await DecodedImage(decoding: Escaping.file("\(Self.search) \(Self.token)"), codecs: codecs).size
                == 4)
        await pool.close()
    }
    #endif

    @Test("With one image a worker, no image has another's worker, be it unreadable or only described")
    func oneImage() async throws {
        let pool = try await DecoderPool(
            workers: 1, helper: Corpus.helper("EscapingDecoder"), imagesPerWorker: 1)
        let codecs = try Escaping.codecs(in: pool)
        await #expect(throws: LoadError.self) {
            try await DecodedImage(decoding: Escaping.file("fail"), codecs: codecs)
        }
        _ = try await ImageMetadata(of: Escaping.file("1"), codecs: codecs)
        _ = try await DecodedImage(decoding: Escaping.file("2"), codecs: codecs)
        _ = try await ImageMetadata(of: Escaping.file("3"), codecs: codecs)
        _ = try await DecodedImage(decoding: Escaping.file("4"), codecs: codecs)
        #expect(pool.statistics.started == 5)
        await pool.close()
    }

    @Test("With two images a worker, it is replaced after two files, however many requests they take")
    func twoImages() async throws {
        let pool = try await DecoderPool(
            workers: 1, helper: Corpus.helper("EscapingDecoder"), imagesPerWorker: 2)
        let codecs = try Escaping.codecs(in: pool)
        // Each is a header and a picture.
        for (number, started) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)] {
            _ = try await DecodedImage(decoding: Escaping.file("\(number)"), codecs: codecs)
            #expect(pool.statistics.started == started, "image \(number)")
        }
        await pool.close()
    }

    @Test("A slab is cleared, and its memory given back, whatever the worker says that it used")
    func slab() async throws {
        let pool = try await Corpus.pool(workers: 1, helper: "EscapingDecoder")
        let codecs = try Escaping.codecs(in: pool)
        let output = try #require(pool.state.withLock { $0.idle.first?.output })
        // As a worker would.
        UnsafeMutableRawBufferPointer(rebasing: output.bytes[..<(40 << 20)])
            .initializeMemory(as: UInt8.self, repeating: 1)
        for number in 1...WorkerProcess.filesBetweenReleases {
            _ = try await DecodedImage(decoding: Escaping.file("nothing \(number)"), codecs: codecs)
        }
        var pages = [UInt8](repeating: 0, count: output.count / 4096)
        mincore(output.bytes.baseAddress, pages.count * 4096, &pages)
        #expect(pages.dropFirst(WorkerProcess.Sizes.kept / 4096).allSatisfy { $0 & 1 == 0 })
        // The picture of 4 pixels a side and its delay.
        #expect(output.bytes.prefix(4 * 4 * 3 + Message.delayBytes).allSatisfy { $0 == 0 })
        await pool.close()
    }
}

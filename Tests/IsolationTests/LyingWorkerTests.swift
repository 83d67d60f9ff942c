import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineIsolation

@Suite("What a worker says is compared with what the program knows", .onLinux)
struct LyingWorkerTests {
    private static let format = Escaping.format

    /// Runs a test with a pool whose workers lie, and checks that a lie is an error that ends the worker.
    private func refuses(
        _ what: String, _ body: (_ file: [UInt8], _ codecs: ImageCodecs) async throws -> Void
    ) async throws {
        let pool = try await Corpus.pool(workers: 1, helper: "EscapingDecoder")
        let codecs = try Escaping.codecs(in: pool)
        let error = await #expect(throws: LoadError.self, "\(what)") {
            try await body(Array("escape \(what)".utf8), codecs)
        }
        #expect(error?.code == .undecodable, "\(what): \(String(describing: error))")
        #expect(pool.statistics.deaths == 2, "\(what)")
        await pool.close()
    }

    /// The numbers of a header in a response of the helper.
    private func numbers(_ change: (inout ImageHeader) -> Void) -> String {
        let formats = DecoderWorker.codecs.codecs.map(\.format) + [Self.format]
        var (header, message) = (ImageHeader(format: Self.format, storedSize: 4), Message(kind: 0))
        change(&header)
        message.append(header, formats)
        var (reader, words) = (message.reader, [String]())
        while let number = try? reader.next(in: Int.min...Int.max) { words.append("\(number)") }
        return words.joined(separator: " ")
    }

    @Test(
        "A picture of another size than the box demands, of another source or with other loops",
        arguments: [
            ("1 1 3 1 0 4 4 0 0 0 0 0", nil), ("4 3 3 1 0 4 4 0 0 0 0 0", nil), ("4 4 3 1 0 4 4 0 0 0 0 0", 2),
            ("4 4 3 1 0 1099511627776 1099511627776 0 0 0 0 0", nil), ("4 4 3 1 7 4 4 0 0 0 0 0", nil),
        ] as [(String, PixelSize?)])
    func pictures(_ lie: String, _ box: PixelSize?) async throws {
        try await refuses("lie \(lie)") { file, codecs in
            _ = try await DecodedImage(decoding: file, maxPixelSize: box, codecs: codecs)
        }
    }

    @Test("A header of another format, with more frames than the file has bytes, or with a character that isn't one")
    func headers() async throws {
        let lies = [
            numbers { $0.format = .png }, numbers { $0.frames = 1 << 30 },
            numbers { $0.missingCharacter = 0x11_0000 },
        ]
        for lie in lies {
            try await refuses("lie-first \(lie)") { file, codecs in
                _ = try await DecodedImage(decoding: file, codecs: codecs)
            }
        }
    }

    @Test("A description without pixels, or of blocks larger than the file")
    func descriptions() async throws {
        // No profile, 300,000 bytes of EXIF, no XMP, no place, and four texts that are missing.
        for lie in [numbers { $0.storedSize = 0 } + " 0 0 0 0 0 0", numbers { _ in } + " 0 0 0 0 300000 0"] {
            try await refuses("lie-first \(lie) 0 0 0 0 0 0 0 0 0 0 0") { file, codecs in
                _ = try await ImageMetadata(of: file, codecs: codecs)
            }
        }
    }

    @Test(
        "Metadata larger than the file, and a profile that isn't the program's own",
        arguments: ["300000 0 0", "0 5000000 0", "0 0 500"])
    func keptMetadata(_ lie: String) async throws {
        // The header is the first request, the picture the second.
        try await refuses("lie-metadata 3 \(lie)") { file, codecs in
            let list = ImagePipeline {
                ReadInline()
                Decode(codecs: codecs)
                Encode(.png, options: EncodeOptions(metadata: .all), codecs: codecs)
            }
            _ = try await list.load(ImageRequest(.bytes(file)))
        }
    }

    @Test("A stripped file that is larger than the file")
    func largeStripped() async throws {
        try await refuses("strip 300000") { file, codecs in
            _ = try await codecs.stripped(file, of: .all, within: WorkTime(limit: nil))
        }
    }

    @Test("A stripped file that is empty or of another format isn't written", arguments: [0, 100])
    func strippedIntoNothing(_ count: Int) async throws {
        let pool = try await Corpus.pool(workers: 1, helper: "EscapingDecoder")
        let codecs = try Escaping.codecs(in: pool)
        let error = await #expect(throws: LoadError.self) {
            try await codecs.stripped(
                Array("escape strip \(count)".utf8), of: .all, within: WorkTime(limit: nil))
        }
        #expect(error?.code == .undecodable)
        await pool.close()
    }
}

import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("Windows bitmaps are decoded, whatever their bits and headers")
struct BMPDecoderTests {
    private static let red: [UInt8] = [255, 0, 0]
    private static let green: [UInt8] = [0, 255, 0]
    private static let blue: [UInt8] = [0, 0, 255]
    private static let white: [UInt8] = [255, 255, 255]
    // Two rows of three: what most of the files below show.
    private static let picture = [red, green, blue, white, red, green]

    /// The colours 0 to 3, as a palette has them.
    private static let palette: [UInt8] = [0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 0, 255, 255, 255, 0]

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// A file with a header of 40 bytes or more.
    private static func file(
        width: Int = 3, height: Int = 2, bits: Int, compression: Int = 0, used: Int = 0, masks: [Int] = [],
        headerSize: Int = 40, palette: [UInt8] = [], _ pixels: [UInt8]
    ) -> [UInt8] {
        var header = little(headerSize, 4) + little(width, 4) + little(height, 4) + little(1, 2) + little(bits, 2)
        header += little(compression, 4) + little(pixels.count, 4) + little(0, 8) + little(used, 4) + little(0, 4)
        header += masks.flatMap { little($0, 4) }
        if header.count < headerSize { header += [UInt8](repeating: 0, count: headerSize - header.count) }
        let start = 14 + header.count + palette.count
        return Array("BM".utf8) + little(start + pixels.count, 4) + little(0, 4) + little(start, 4) + header + palette
            + pixels
    }

    private func pixels(_ file: [UInt8], with stage: Decode = Decode()) async throws -> [[UInt8]] {
        let image = try await SampleImage.decode(file, with: stage)
        let channels = image.layout.channelCount
        return stride(from: 0, to: image.pixels.count, by: channels).map { Array(image.pixels[$0..<$0 + channels]) }
    }

    static let variants: [(String, [UInt8])] = [
        (
            "24 bits, from the bottom",
            file(
                bits: 24, [255, 255, 255, 0, 0, 255, 0, 255, 0, 0, 0, 0] + [0, 0, 255, 0, 255, 0, 255, 0, 0, 0, 0, 0])
        ),
        (
            "24 bits, from the top",
            file(
                height: -2, bits: 24,
                [0, 0, 255, 0, 255, 0, 255, 0, 0, 0, 0, 0] + [255, 255, 255, 0, 0, 255, 0, 255, 0, 0, 0, 0])
        ),
        (
            "32 bits, the fourth of no use",
            file(
                bits: 32,
                [255, 255, 255, 0, 0, 0, 255, 9, 0, 255, 0, 0] + [0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 7])
        ),
        (
            "16 bits, five each",
            file(
                bits: 16, [0xff, 0x7f, 0x00, 0x7c, 0xe0, 0x03, 0, 0] + [0x00, 0x7c, 0xe0, 0x03, 0x1f, 0x00, 0, 0])
        ),
        (
            "16 bits, six for green",
            file(
                bits: 16, compression: 3, masks: [0xf800, 0x7e0, 0x1f],
                [0xff, 0xff, 0x00, 0xf8, 0xe0, 0x07, 0, 0] + [0x00, 0xf8, 0xe0, 0x07, 0x1f, 0x00, 0, 0])
        ),
        ("8 bits", file(bits: 8, used: 4, palette: palette, [3, 0, 1, 0] + [0, 1, 2, 0])),
        ("2 bits", file(bits: 2, used: 4, palette: palette, [0b1100_0100, 0, 0, 0] + [0b0001_1000, 0, 0, 0])),
        ("4 bits", file(bits: 4, used: 4, palette: palette, [0x30, 0x10, 0, 0] + [0x01, 0x20, 0, 0])),
        (
            "8 bits in runs",
            file(
                bits: 8, compression: 1, used: 4, palette: palette,
                [0, 3, 3, 0, 1, 0, 0, 0] + [1, 0, 1, 1, 1, 2, 0, 1])
        ),
        (
            "4 bits in runs",
            file(
                bits: 4, compression: 2, used: 4, palette: palette,
                [0, 3, 0x30, 0x10, 0, 0] + [2, 0x01, 1, 0x20, 0, 1])
        ),
    ]

    @Test("Every kind shows the same picture", arguments: variants)
    func kinds(_ name: String, _ file: [UInt8]) async throws {
        #expect(try await pixels(file) == Self.picture)
    }

    @Test("One bit a pixel is an index of two colours, and a header of OS/2 has three bytes for each")
    func core() async throws {
        let header = Self.little(12, 4) + Self.little(3, 2) + Self.little(2, 2) + Self.little(1, 2) + Self.little(1, 2)
        let start = 14 + header.count + 6
        let file =
            Array("BM".utf8) + Self.little(0, 8) + Self.little(start, 4) + header + [0, 0, 255, 255, 255, 255]
            + [0b0100_0000, 0, 0, 0] + [0b1010_0000, 0, 0, 0]
        #expect(
            try await pixels(file) == [Self.white, Self.red, Self.white, Self.red, Self.white, Self.red])
    }

    @Test("Pixels that are said to begin in place of the colours come after them")
    func startInPalette() async throws {
        var file = Self.file(bits: 8, used: 4, palette: Self.palette, [3, 0, 1, 0] + [0, 1, 2, 0])
        file.replaceSubrange(10..<14, with: Self.little(54, 4))
        #expect(try await pixels(file) == Self.picture)
    }

    @Test("A mask for alpha makes it transparent")
    func alpha() async throws {
        let file = Self.file(
            width: 2, height: 1, bits: 32, compression: 3, masks: [0xff, 0xff00, 0xff0000, 0x7f00_0000],
            headerSize: 56, [1, 2, 3, 0x7f, 4, 5, 6, 0])
        #expect(try await pixels(file) == [[1, 2, 3, 255], [4, 5, 6, 0]])
    }

    @Test("The sample is what another program makes of it")
    func sample() async throws {
        let image = try await SampleImage.decode(try Pictures.bytes("good/bmp-rgb24.bmp"))
        #expect(image.size == PixelSize(width: 127, height: 64))
        // Pillow 13's numbers.
        for (mean, expected) in zip(image.means, [121.536, 118.428, 122.894]) { #expect(abs(mean - expected) < 0.001) }
        #expect(image.pixel(0, 0) == [255, 0, 0])
        #expect(image.pixel(126, 63) == [96, 96, 126])
        #expect(image.pixel(60, 5) == [230, 235, 230])
    }

    @Test("A bitmap is scaled as it is read, exactly to the box")
    func scaled() async throws {
        let bytes = try Pictures.bytes("good/bmp-rgb24.bmp")
        let small = try await SampleImage.decode(bytes, maxPixelSize: 20)
        #expect(small.size == PixelSize(width: 20, height: 10))
        #expect(small.nativeSize == PixelSize(width: 127, height: 64))
        let full = try await SampleImage.decode(bytes)
        for (mean, expected) in zip(small.means, full.means) { #expect(abs(mean - expected) < 2) }
    }

    @Test("A bitmap that is cut off is an error, or black from there on if that is allowed", arguments: variants)
    func cutOff(_ name: String, _ file: [UInt8]) async throws {
        let cut = Array(file.dropLast(6))
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(cut) }
        #expect(error.code == .undecodable)
        #expect(error.message.contains("cut off"))
        #expect(try await pixels(cut, with: Decode(allowTruncated: true)).count == 6)
    }

    @Test("Headers that make no sense are errors")
    func nonsense() async throws {
        let files = [
            Self.file(width: 0, bits: 24, []), Self.file(height: 0, bits: 24, []), Self.file(bits: 7, [0]),
            Self.file(bits: 24, compression: 9, [0]), Self.file(bits: 24, compression: 1, [0]),
            Self.file(width: -3, bits: 24, [0]), Self.file(width: 1 << 31, height: 1 << 31, bits: 32, []),
        ]
        for file in files {
            let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(file) }
            #expect([.undecodable, .tooManyPixels].contains(error.code))
        }
        let large = try await #require(throws: LoadError.self) {
            try await SampleImage.decode(Self.file(width: 50_000, height: 50_000, bits: 8, compression: 1, []))
        }
        #expect(large.code == .tooManyPixels)
    }

    @Test("What isn't read is called by its name", arguments: [(64, 0, "64 bits"), (24, 4, "JPEG"), (24, 5, "PNG")])
    func unsupported(_ bits: Int, _ compression: Int, _ name: String) async throws {
        let file = Self.file(bits: bits, compression: compression, [0])
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(file) }
        #expect(error.code == .unsupportedType)
        #expect(error.message.contains(name))
    }

    @Test("A profile in the file counts")
    func profile() async throws {
        let pixels = [UInt8](repeating: 128, count: 12)
        var file = Self.file(width: 3, height: 1, bits: 24, headerSize: 124, pixels)
        let profile = [UInt8](repeating: 1, count: 200)
        file.replaceSubrange(70..<74, with: Array("DEBM".utf8))
        file.replaceSubrange(126..<134, with: Self.little(file.count - 14, 4) + Self.little(profile.count, 4))
        let metadata = try await ImageMetadata(of: file + profile)
        #expect(metadata.profile?.byteCount == 200)
        #expect(try await SampleImage.decode(file + profile).pixels == [UInt8](repeating: 128, count: 9))
    }

    @Test("Runs that lead beyond their row cost no more than others", arguments: [1, 2, 4])
    func longRuns(_ factor: Int) throws {
        // The clock is looked at once in 65,536 runs, however long they are.
        let runs = [UInt8](repeating: 255, count: 2 * 65_536 * factor)
        let file = Self.file(width: 8, height: 1, bits: 8, compression: 1, used: 4, palette: Self.palette, runs)
        let bitmap = try Bitmap(file)
        let (looks, _) = try ImpatientClock.looks(patience: .max) { cancellation in
            _ = try BitmapRuns(bitmap).indices(file, allowTruncated: true, cancellation)
        }
        #expect((factor...factor + 2).contains(looks))
    }

    @Test("Runs and jumps that lead out of the picture write nothing there")
    func runsTooFar() async throws {
        let far = Self.file(
            bits: 8, compression: 1, used: 4, palette: Self.palette,
            [255, 2, 0, 2, 255, 1, 255, 1, 0, 2, 0, 255, 9, 9, 0, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0])
        #expect(try await pixels(far, with: Decode(allowTruncated: true)).count == 6)
    }
}

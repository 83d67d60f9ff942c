import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("PNG is inflated and scaled row by row, and gives the pixels that libvips gives")
struct PNGDecoderTests {
    /// A PNG whose pixels are stored, not compressed.
    struct File {
        var width: Int
        var height: Int
        var depth = 8
        var color: Int
        var interlace: UInt8 = 0
        /// What stands between the header and the pixels.
        var chunks: [(String, [UInt8])] = []
        /// The rows, each with its filter before it.
        var rows: [[UInt8]]

        var bytes: [UInt8] {
            let stream = Self.stream(rows)
            // In two pieces.
            let pieces = [("IDAT", Array(stream.prefix(10))), ("IDAT", Array(stream.dropFirst(10)))]
            return Self.file([("IHDR", header)] + chunks + pieces + [("IEND", [])])
        }

        var header: [UInt8] {
            Self.big(width) + Self.big(height) + [UInt8(depth), UInt8(color), 0, 0, interlace]
        }

        static func file(_ chunks: [(String, [UInt8])]) -> [UInt8] {
            [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + chunks.flatMap { chunk($0.0, $0.1) }
        }

        /// Rows in a zlib stream, not compressed.
        static func stream(_ rows: [[UInt8]]) -> [UInt8] {
            var stream: [UInt8] = [0x78, 0x01]
            let data = Array(rows.joined())
            let (low, high) = data.reduce((1, 0)) { sums, byte in
                let low = (sums.0 + Int(byte)) % 65521
                return (low, (sums.1 + low) % 65521)
            }
            for start in stride(from: 0, to: data.count, by: 65535) {
                let block = data[start..<min(start + 65535, data.count)]
                let (count, last) = (block.count, start + block.count == data.count)
                stream += [last ? 1 : 0, UInt8(count & 255), UInt8(count >> 8)]
                stream += [UInt8(~count & 255), UInt8(~count >> 8 & 255)] + block
            }
            return stream + big(high << 16 | low)
        }

        static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
            let checked = Array(type.utf8) + body
            var sum: UInt32 = 0xffff_ffff
            for byte in checked {
                sum ^= UInt32(byte)
                for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
            }
            return Self.big(body.count) + checked + Self.big(Int(~sum))
        }

        static func big(_ value: Int) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
        }
    }

    private func noise(_ count: Int) -> [UInt8] {
        var state: UInt32 = 99
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
    }

    /// A row as a filter leaves it (ISO/IEC 15948 clause 9).
    private func filtered(_ row: [UInt8], above: [UInt8], filter: Int, pixel: Int) -> [UInt8] {
        [UInt8(filter)]
            + row.indices.map { index in
                let left = index < pixel ? 0 : Int(row[index - pixel])
                let corner = index < pixel ? 0 : Int(above[index - pixel])
                let up = Int(above[index])
                let guess: Int
                switch filter {
                case 1: guess = left
                case 2: guess = up
                case 3: guess = (left + up) / 2
                case 4:
                    let distances = [left, up, corner].map { abs(left + up - corner - $0) }
                    guess =
                        distances[0] <= min(distances[1], distances[2])
                        ? left : distances[1] <= distances[2] ? up : corner
                default: guess = 0
                }
                return row[index] &- UInt8(guess)
            }
    }

    @Test(
        "Each filter is undone, whatever a pixel's size",
        arguments: [(0, 8), (0, 16), (2, 8), (2, 16), (4, 8), (4, 16), (6, 8), (6, 16)])
    func filters(_ color: Int, _ depth: Int) async throws {
        let samples = [0: 1, 2: 3, 4: 2, 6: 4][color] ?? 1
        let (width, height, pixel) = (23, 25, samples * depth / 8)
        let length = width * pixel
        let all = noise(height * length)
        let rows = (0..<height).map { Array(all[$0 * length..<($0 + 1) * length]) }
        let file = File(
            width: width, height: height, depth: depth, color: color,
            rows: rows.enumerated().map { index, row in
                let above = index == 0 ? [UInt8](repeating: 0, count: row.count) : rows[index - 1]
                return filtered(row, above: above, filter: index % 5, pixel: pixel)
            })
        let image = try await SampleImage.decode(file.bytes)
        // Of 16 bits the high byte is taken.
        var expected = depth == 8 ? all : stride(from: 0, to: all.count, by: 2).map { all[$0] }
        if color == 4 {
            expected = stride(from: 0, to: expected.count, by: 2).flatMap {
                [expected[$0], expected[$0], expected[$0], expected[$0 + 1]]
            }
        }
        #expect(image.layout == [0: .gray, 2: .rgb, 4: .rgba, 6: .rgba][color])
        #expect(image.pixels == expected)
    }

    @Test("Few bits a sample, as grey and as an index of a palette", arguments: [1, 2, 4, 8])
    func fewBits(_ depth: Int) async throws {
        let packed = noise((9 * depth + 7) / 8)
        let indices = (0..<9).map { Int(packed[$0 * depth / 8]) >> (8 - depth - $0 * depth % 8) & ((1 << depth) - 1) }
        let gray = File(width: 9, height: 1, depth: depth, color: 0, rows: [[0] + packed])
        #expect(
            try await SampleImage.decode(gray.bytes).pixels.map(Int.init)
                == indices.map { $0 * 255 / ((1 << depth) - 1) })
        let palette = (0..<3 << depth).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let indexed = File(
            width: 9, height: 1, depth: depth, color: 3, chunks: [("PLTE", palette)], rows: [[0] + packed])
        #expect(try await SampleImage.decode(indexed.bytes).pixels == indices.flatMap { palette[3 * $0..<3 * $0 + 3] })
        let clear = File(
            width: 9, height: 1, depth: depth, color: 3, chunks: [("PLTE", palette), ("tRNS", [5])],
            rows: [[0] + packed])
        #expect(
            try await SampleImage.decode(clear.bytes).pixels
                == indices.flatMap { palette[3 * $0..<3 * $0 + 3] + [$0 == 0 ? 5 : 255] })
    }

    @Test("Every PNG among the samples has the pixels that libvips makes of it")
    func likeLibvips() async throws {
        let codec = ImageCodec.png.decoding(with: VipsDecoder.png)
        let names = try SampleImage.manifest("good").map { "good/\($0.name)" }.filter { $0.hasSuffix("png") }
        #expect(names.count == 6)
        for name in names + ["good/expected/bricks-color.png"] {
            let bytes = try Pictures.bytes(name)
            let image = try await SampleImage.decode(bytes)
            let expected = try await SampleImage.decode(bytes, with: Decode(codecs: [codec]))
            #expect(image.layout == expected.layout, "\(name)")
            #expect(image.pixels == expected.pixels, "\(name)")
        }
    }

    @Test("A colour that is transparent by its value becomes transparent")
    func colorKey() async throws {
        let file = File(
            width: 2, height: 1, color: 2, chunks: [("tRNS", [0, 1, 0, 2, 0, 3])], rows: [[0, 1, 2, 3, 4, 5, 6]])
        let image = try await SampleImage.decode(file.bytes)
        #expect(image.layout == .rgba)
        #expect(image.pixels[3] == 0)
        #expect(Array(image.pixels[4...]) == [4, 5, 6, 255])
    }

    @Test("The orientation of an eXIf chunk is applied once")
    func orientation() async throws {
        // A little TIFF with nothing but the orientation 6: turn clockwise.
        let exif: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]
        let file = File(width: 3, height: 2, color: 0, chunks: [("eXIf", exif)], rows: [[0, 1, 2, 3], [0, 4, 5, 6]])
        let image = try await SampleImage.decode(file.bytes)
        #expect(image.size == PixelSize(width: 2, height: 3))
        #expect(image.pixels == [4, 1, 5, 2, 6, 3])
    }

    @Test("Rows that are too few, a filter that is none and headers that make no sense are errors")
    func nonsense() async throws {
        let row: [UInt8] = [0, 1, 2, 3]
        var files = [
            File(width: 3, height: 3, color: 0, rows: [row, row]).bytes,
            File(width: 3, height: 2, color: 0, rows: [row, [9, 1, 2, 3]]).bytes,
            File(width: 0, height: 2, color: 0, rows: [row]).bytes,
            File(width: 3, height: 1, depth: 5, color: 0, rows: [row]).bytes,
            File(width: 3, height: 1, color: 5, rows: [row]).bytes,
            File(width: 3, height: 1, color: 3, rows: [row]).bytes,
        ]
        let good = File(width: 3, height: 1, color: 0, rows: [row]).bytes
        files += (1..<good.count - 12).map { Array(good.prefix($0)) }.filter { $0.count >= 8 }
        for file in files {
            let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(file) }
            #expect(error.code == .undecodable)
        }
    }

    @Test(
        "What libvips is given of a PNG has no chunk but those of its pixels, and none that claims to be longer than it"
    )
    func pixelsAlone() async throws {
        let rows: [[UInt8]] = [[0, 1, 2, 3], [0, 4, 5, 6]]
        let plain = File(width: 3, height: 2, color: 0, interlace: 0, rows: rows).bytes
        let talkative = File(width: 3, height: 2, color: 0, chunks: [("zTXt", noise(900)), ("juNk", [])], rows: rows)
        #expect(try PNGFile(plain, WorkCancellation()).pixelsAlone(WorkCancellation()) == plain)
        #expect(try PNGFile(talkative.bytes, WorkCancellation()).pixelsAlone(WorkCancellation()) == plain)

        // Text of 2 GB in a file of 57 bytes: what libpng reads, it first makes room for.
        let header = Array(plain.prefix(33))
        let claim: [UInt8] = [0x7f, 0xff, 0xff, 0xff] + Array("tEXt".utf8) + noise(4)
        let claiming = try PNGFile(header + claim + plain.suffix(12), WorkCancellation())
        #expect(try claiming.pixelsAlone(WorkCancellation()) == header + plain.suffix(12))
        // Pixels that are cut off may be wanted all the same.
        let cut = Array(plain.dropLast(20))
        #expect(try PNGFile(cut, WorkCancellation()).pixelsAlone(WorkCancellation()) == cut)
    }

    @Test("Transparency before the palette, and an end that is missing, cost no picture", arguments: [0, 1] as [UInt8])
    func order(_ interlace: UInt8) async throws {
        let colors: [UInt8] = [255, 0, 0, 0, 255, 0]
        func file(_ chunks: [(String, [UInt8])]) -> [UInt8] {
            File(width: 1, height: 1, color: 3, interlace: interlace, chunks: chunks, rows: [[0, 1]]).bytes
        }
        let expected = try await SampleImage.decode(file([("PLTE", colors), ("tRNS", [255, 99])]))
        #expect(expected.pixels == [0, 255, 0, 99])
        let turned = try await SampleImage.decode(file([("tRNS", [255, 99]), ("PLTE", colors)]))
        #expect(turned.pixels == expected.pixels)
        let endless = try await SampleImage.decode(Array(file([("PLTE", colors), ("tRNS", [255, 99])]).dropLast(12)))
        #expect(endless.pixels == expected.pixels)
    }

    @Test("What libvips decodes of a PNG is converted from its profile as what is decoded here", arguments: [0, 2])
    func profileOfInterlaced(_ color: Int) async throws {
        let sample = try Pictures.bytes("good/png-icc-rec2020.png")
        var found = PNGChunks(sample, WorkCancellation())
        var profile: ArraySlice<UInt8>?
        while profile == nil, let chunk = try found.next() {
            if chunk.kind == .profile { profile = sample[chunk.body] }
        }
        let pixel = noise(color == 0 ? 1 : 3)
        func file(_ interlace: UInt8, _ chunks: [(String, [UInt8])]) -> [UInt8] {
            File(width: 1, height: 1, color: color, interlace: interlace, chunks: chunks, rows: [[0] + pixel]).bytes
        }
        let chunks = [("iCCP", Array(try #require(profile)))]
        let converted = try await SampleImage.decode(file(1, chunks)).pixels
        #expect(converted == (try await SampleImage.decode(file(0, chunks)).pixels))
        if color == 2 { #expect(converted != pixel) }
    }

    @Test(
        "Greys with transparency are converted from a profile of greys, and the transparency is kept",
        arguments: [0, 1])
    func grayProfile(_ interlace: UInt8) async throws {
        // A profile whose greys are linear light: half of the light is nearly three quarters of sRGB's scale.
        let curve: [UInt8] = Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 0, 0]
        var profile = [UInt8](repeating: 0, count: 12) + Array("mntrGRAYXYZ ".utf8)
        profile += [UInt8](repeating: 0, count: 128 - profile.count) + [0, 0, 0, 1] + Array("kTRC".utf8)
        profile += [0, 0, 0, 144, 0, 0, 0, 12] + curve
        let stored: [UInt8] = [0x78, 0x01, 1, UInt8(profile.count), 0, ~UInt8(profile.count), 0xff] + profile
        let sums = profile.reduce((1, 0)) { ($0.0 + Int($1), ($0.1 + $0.0 + Int($1)) % 65521) }
        let sum = [sums.1 >> 8, sums.1, sums.0 >> 8, sums.0].map { UInt8(truncatingIfNeeded: $0) }
        let chunk = ("iCCP", Array("grey".utf8) + [0, 0] + stored + sum)
        let file = File(
            width: 1, height: 1, color: 4, interlace: interlace, chunks: [chunk], rows: [[0, 128, 77]])
        #expect(try await SampleImage.decode(file.bytes).pixels == [188, 188, 188, 77])
        // For colours it is not a profile.
        let colors = File(
            width: 1, height: 1, color: 6, interlace: interlace, chunks: [chunk], rows: [[0, 128, 9, 200, 77]])
        #expect(try await SampleImage.decode(colors.bytes).pixels == [128, 9, 200, 77])
    }

    @Test("Decode alone gives the exact size")
    func exact() async throws {
        let bytes = try Pictures.bytes("good/expected/bricks-color.png")
        let response = try await SampleImage.load(bytes, maxPixelSize: 33) {
            Decode()
            Downscale()
        }
        #expect(response.image?.size == PixelSize(width: 33, height: 25))
        #expect(response.trace.entries.last?.outcome == .skipped)
    }
}

import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

/// `generated/gradient-….avif` are written by another program, of 64×48 pixels whose red is four times the column, whose
/// green is five times the row, and whose blue is 128; those without colours have red's levels.
@Suite("A still AVIF has the pixels that it was made of")
struct AVIFStillTests {
    private func gradient(_ x: Int, _ y: Int, isGray: Bool) -> [Int] {
        isGray ? [4 * x, 4 * x, 4 * x] : [4 * x, 5 * y, 128]
    }

    /// The largest and the mean difference of any channel.
    private func difference(_ image: DecodedImage, isGray: Bool, scale: Int = 1) -> (largest: Int, mean: Double) {
        var (largest, sum) = (0, 0)
        for y in 0..<image.height {
            for x in 0..<image.width {
                // Of a reduced picture the mean of the gradient there.
                let expected = gradient(x, y, isGray: isGray).enumerated().map { channel, value in
                    let step = channel == 2 && !isGray ? 0 : channel == 1 && !isGray ? 5 : 4
                    return scale * value + (scale - 1) * step / 2 - (step == 0 ? (scale - 1) * 128 : 0)
                }
                for channel in 0..<3 {
                    let value = level(image, x, y, channel)
                    largest = max(largest, abs(value - expected[channel]))
                    sum += abs(value - expected[channel])
                }
            }
        }
        return (largest, Double(sum) / Double(3 * image.width * image.height))
    }

    private func level(_ image: DecodedImage, _ x: Int, _ y: Int, _ channel: Int) -> Int {
        Int(image.pixels[(y * image.width + x) * image.layout.channelCount + channel])
    }

    private static let names = [
        "limited-8-420", "limited-10-420", "limited-12-444", "monochrome-limited-8", "monochrome-limited-10",
        "identity",
        "ycgco", "bt2020-422",
    ]

    /// A file whose colours are sRGB's whatever its matrix is, so that only matrix and range are converted.
    private func file(_ name: String) throws -> [UInt8] {
        var bytes = try Pictures.bytes("generated/gradient-\(name).avif")
        let property = Array("nclx".utf8)
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: property) })
        bytes.replaceSubrange(place + 4..<place + 8, with: [0, 1, 0, 13])
        return bytes
    }

    @Test("Whatever depth, range, matrix and colours it is coded with", arguments: names)
    func whole(_ name: String) async throws {
        let image = try await SampleImage.decode(try file(name))
        #expect(image.size == PixelSize(width: 64, height: 48))
        let found = difference(image, isGray: name.hasPrefix("monochrome"))
        #expect(found.mean < 1.1)
        #expect(found.largest <= 5)
    }

    @Test("A matrix of constant luminance is taken for the other of its primaries", arguments: [9, 12])
    func constantLuminance(_ matrix: Int) async throws {
        let (plain, constant) = (matrix, matrix + 1)
        func image(_ matrix: Int, box: PixelSize? = nil) async throws -> DecodedImage {
            var bytes = try file("bt2020-422")
            let place = try #require(bytes.firstRange(of: Array("nclx".utf8))).upperBound
            bytes[place + 5] = UInt8(matrix)
            return try await SampleImage.decode(bytes, maxPixelSize: box)
        }
        #expect(try await image(constant) == image(plain))
        #expect(try await image(constant, box: 16) == image(plain, box: 16))
    }

    @Test("Reduced, its colours are the same", arguments: names)
    func reduced(_ name: String) async throws {
        let bytes = try file(name)
        for quality in DecodeQuality.allCases {
            let image = try await SampleImage.decode(bytes, maxPixelSize: 16, with: Decode(quality: quality))
            #expect(image.size == PixelSize(width: 16, height: 12))
            // The edges have no neighbours to be a mean of.
            let found = difference(image, isGray: name.hasPrefix("monochrome"), scale: 4)
            #expect(found.mean < 1.3, "\(found)")
            #expect(found.largest <= 7, "\(found)")
        }
    }

    @Test(
        "Reduced at any quality, a picture of 8 bits is the whole one that was scaled",
        arguments: DecodeQuality.allCases)
    func wholeFirst(_ quality: DecodeQuality) async throws {
        let bytes = try Pictures.bytes("good/avif-photo.avif")
        let whole = try await SampleImage.decode(bytes)
        let small = try await SampleImage.decode(bytes, maxPixelSize: 60, with: Decode(quality: quality))
        let plan = ResamplePlan(from: whole.size, to: small.size, reserve: quality.blockReserve)
        let scaled = try whole.pixels.withUnsafeBufferPointer {
            try Resampler.scaled(
                try #require($0.baseAddress), plan, layout: whole.layout, cancellation: WorkCancellation())
        }
        #expect(small.pixels == scaled)
    }

    private func picture(_ name: String) throws -> CodedPicture {
        try CodedPicture(of: try Pictures.bytes("generated/gradient-\(name).avif"))
    }

    private func alpha(_ fixture: inout HEIFFixture) -> Int {
        fixture.property("auxC", 0.bigEndian(4) + Array("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0".utf8))
    }

    @Test(
        "Transparency has a range and a depth of its own, with or without a size in the file",
        arguments: [
            ("limited-8-420", "monochrome-limited-8"), ("limited-10-420", "monochrome-limited-8"),
            ("identity", "monochrome-limited-10"),
        ],
        [true, false])
    func transparency(_ names: (String, String), _ hasSize: Bool) async throws {
        var fixture = HEIFFixture()
        fixture.picture(try picture(names.0))
        let kind = alpha(&fixture)
        let item = fixture.picture(try picture(names.1), properties: [kind], isHidden: true)
        if !hasSize { fixture.items[item - 1].properties.removeFirst() }
        fixture.refer("auxl", from: item, to: [1])
        let image = try await SampleImage.decode(fixture.bytes)
        #expect(image.layout == .rgba)
        for x in 0..<64 {
            let distance = abs(level(image, x, 20, 3) - 4 * x)
            #expect(distance <= 1)
        }
        #expect(difference(image, isGray: false).mean < 1.1)
        let small = try await SampleImage.decode(fixture.bytes, maxPixelSize: 16)
        let distance = abs(level(small, 8, 5, 3) - (4 * 4 * 8 + 6))
        #expect(distance <= 2)
    }

    @Test("Transparency is turned and cropped as the colours are, whatever its own properties say")
    func turnedTransparency() async throws {
        var fixture = HEIFFixture()
        fixture.picture(try picture("identity"))
        let turn = fixture.property("irot", [1])
        fixture.items[0].properties.append(turn)
        let kind = alpha(&fixture)
        let item = fixture.picture(try picture("monochrome-limited-8"), properties: [kind], isHidden: true)
        fixture.refer("auxl", from: item, to: [1])
        let image = try await SampleImage.decode(fixture.bytes)
        #expect(image.size == PixelSize(width: 48, height: 64))
        // Counterclockwise: the last column is the first row.
        for y in 0..<64 {
            let distance = abs(level(image, 20, y, 3) - 4 * (63 - y))
            #expect(distance <= 1)
        }
    }

    @Test("Turned, cropped and mirrored in any order, the picture is that of whole pixels treated so")
    func geometry() async throws {
        for (steps, size) in [
            ([("irot", [1]), ("clap", HEIFFixture.crop(20, 40))], PixelSize(width: 20, height: 40)),
            ([("clap", HEIFFixture.crop(40, 20)), ("irot", [3]), ("imir", [0])], PixelSize(width: 20, height: 40)),
            ([("imir", [1]), ("irot", [2])], PixelSize(width: 64, height: 48)),
        ] as [([(String, [UInt8])], PixelSize)] {
            var fixture = HEIFFixture()
            fixture.picture(try picture("limited-10-420"))
            for (type, content) in steps { fixture.items[0].properties.append(fixture.property(type, content)) }
            let image = try await SampleImage.decode(fixture.bytes)
            #expect(image.size == size)
            let box = PixelSize(width: size.width / 2, height: size.height / 2)
            let half = try await SampleImage.decode(fixture.bytes, maxPixelSize: box)
            #expect(half.size == box)
            #expect(half.nativeSize == size)
            // The means of blocks of the whole picture are the reduced one.
            for y in 2..<half.height - 2 {
                for x in 2..<half.width - 2 {
                    for channel in 0..<3 {
                        var sum = 0
                        for row in 0..<2 {
                            for column in 0..<2 { sum += level(image, 2 * x + column, 2 * y + row, channel) }
                        }
                        let distance = abs(level(half, x, y, channel) - sum / 4)
                        #expect(distance <= 4)
                    }
                }
            }
        }
    }

    @Test("A grid is put together of its tiles, in their order, and may be smaller than they are")
    func grid() async throws {
        let tile = try picture("identity")
        let size = PixelSize(width: 64 * 3 - 10, height: 48 * 2 - 8)
        // Tiles of grids have 64 pixels a side at least.
        let small = HEIFFixture.grid(of: tile, columns: 3, rows: 2, size: size)
        await #expect(throws: LoadError.self) { try await SampleImage.decode(small.bytes) }
        let photo = try CodedPicture.av1()
        let single = try await SampleImage.decode(HEIFFixture.single(photo).bytes)
        let fixture = HEIFFixture.grid(
            of: photo, columns: 1, rows: 2, size: PixelSize(width: photo.size.width, height: 500))
        let image = try await SampleImage.decode(fixture.bytes)
        #expect(image.size == PixelSize(width: photo.size.width, height: 500))
        let stride = photo.size.width * 3
        for row in [0, 100, 300] {
            let place = row * stride..<(row + 1) * stride
            #expect(image.pixels[place] == single.pixels[place])
        }
        let (second, first) = ((photo.size.height + 50) * stride, 50 * stride)
        #expect(image.pixels[second..<second + stride] == single.pixels[first..<first + stride])
        let header = try HEIFStill(fixture.bytes, format: .avif, cancellation: WorkCancellation()).header
        #expect(header.frames == 1)
    }

    @Test("The tiles of a grid may have layers")
    func layers() async throws {
        let photo = try CodedPicture.av1()
        let size = PixelSize(width: photo.size.width, height: 500)
        let plain = HEIFFixture.grid(of: photo, columns: 1, rows: 2, size: size)
        // Each layer is a frame.
        var layered = HEIFFixture.grid(of: photo, columns: 1, rows: 2, size: size) {
            [$0.property("a1lx", [0] + photo.data.count.bigEndian(2) + [0, 0, 0, 0])]
        }
        for index in layered.items.indices.dropFirst() { layered.items[index].data += photo.data }
        #expect(try await SampleImage.decode(layered.bytes) == SampleImage.decode(plain.bytes))
        for index in layered.items.indices.dropFirst() { layered.items[index].properties.removeLast() }
        let error = await #expect(throws: LoadError.self) { try await SampleImage.decode(layered.bytes) }
        #expect(error?.code == .undecodable)
    }

    @Test("A gain map neither counts as depth nor as a frame")
    func gainMap() async throws {
        var fixture = HEIFFixture()
        fixture.picture(try picture("identity"))
        fixture.picture(try picture("limited-10-420"), isHidden: true)
        let metadata = try await ImageMetadata(of: fixture.bytes)
        #expect(metadata.bitsPerChannel == 8)
        #expect(metadata.frames == 1)
    }

    @Test("A list of items may go to the end of the file")
    func openEnd() async throws {
        let coded = try picture("identity")
        var fixture = HEIFFixture.single(coded)
        // Its data lie in the list.
        let type = ISOBox.bytes("ftyp", Array("avif\0\0\0\0avifmif1".utf8))
        fixture.items[0].data = []
        fixture.parts = ISOBox.bytes("idat", coded.data)
        fixture.items[0].extents = [(0, coded.data.count)]
        let list = fixture.list(at: 0)
        let start = type.count + list.count - coded.data.count
        fixture.items[0].extents = [(start, coded.data.count)]
        var bytes = type + fixture.list(at: 0)
        bytes.replaceSubrange(type.count..<type.count + 4, with: 0.bigEndian(4))
        #expect(difference(try await SampleImage.decode(bytes), isGray: false).largest <= 1)
    }

    @Test("A track of sound next to the pictures of a sequence is left alone")
    func sound() async throws {
        let bytes = try Pictures.bytes("generated/animated.avif")
        let movie = try #require(bytes.firstRange(of: Array("moov".utf8))).lowerBound - 4
        let length = try #require(bytes[...].number(at: movie, bytes: 4))
        let zeros = [UInt8](repeating: 0, count: 68)
        let header = ISOBox.bytes("tkhd", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9] + zeros)
        let entry = ISOBox.bytes("stsd", [0, 0, 0, 0, 0, 0, 0, 1] + ISOBox.bytes("mp4a", Array(zeros.prefix(28))))
        let sizes = ISOBox.bytes("stsz", [0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 7])
        let media = ISOBox.bytes("mdia", ISOBox.bytes("minf", ISOBox.bytes("stbl", entry + sizes)))
        let track = ISOBox.bytes("trak", header + media)
        // Before the others, at the end of the file so that nothing moves.
        var inner = Array(bytes[movie + 8..<movie + length])
        let place = try #require(inner.firstRange(of: Array("trak".utf8))).lowerBound - 4
        inner.insert(contentsOf: track, at: place)
        var moved = bytes
        moved.replaceSubrange(movie + 4..<movie + 8, with: "free".utf8)
        moved += ISOBox.bytes("moov", inner)
        let all = Decode(limits: ImageLimits(frames: 9))
        let image = try await SampleImage.decode(moved, with: all)
        #expect(image.frames.map(\.pixels) == (try await SampleImage.decode(bytes, with: all)).frames.map(\.pixels))
    }

    @Test("A file of a brand for any pictures is told by its codec")
    func brand() async throws {
        for (coded, format) in [(try picture("identity"), ImageFormat.avif), (try CodedPicture.hevc(), .heic)] {
            var fixture = HEIFFixture.single(coded)
            fixture.brand = "mif1"
            #expect(ImageCodecs.known.format(of: fixture.bytes) == format)
            #expect(try await SampleImage.decode(fixture.bytes).size == coded.size)
        }
    }

    @Test(
        "A picture of a kind that isn't read is called so, with what is", arguments: ["jpeg", "avc1", "j2k1", "vvc1"])
    func kinds(_ type: String) async throws {
        var fixture = HEIFFixture.single(try picture("identity"))
        fixture.items[0].type = type
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(fixture.bytes) }
        #expect(error.code == .unsupportedType)
        #expect(error.message.contains(type) && error.message.contains("HEVC"))
        #expect(!error.message.contains("damaged"))
    }

    @Test("A file that has only a sequence is called so, not damaged")
    func onlySequence() async throws {
        let bytes = ISOBox.bytes("ftyp", Array("msf1\0\0\0\0msf1hevc".utf8)) + ISOBox.bytes("moov", [])
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(bytes) }
        #expect(error.code == .unsupportedType)
        #expect(error.message.contains("only a sequence") && !error.message.contains("damaged"))
    }
}

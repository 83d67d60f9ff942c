import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

/// Files that are made to end a program, to hold it up or to be shown what is not theirs.
@Suite("A HEIF or AVIF file that means harm is refused before a library sees it", .timeLimit(.minutes(5)))
struct HostileHEIFTests {
    /// What decoding, the header and the metadata all throw.
    private func refusal(_ bytes: [UInt8]) async throws -> LoadError {
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(bytes) }
        let small = try await #require(throws: LoadError.self) {
            try await SampleImage.decode(bytes, maxPixelSize: 10, with: Decode(quality: .fast))
        }
        #expect(small.code == error.code)
        if error.code != .tooManyPixels, error.code != .tooMuchMemory {
            await #expect(throws: LoadError.self) { try await ImageMetadata(of: bytes) }
        }
        #expect(!error.message.isEmpty && !error.message.contains("\n"))
        return error
    }

    @Test("Pictures that are made of each other", arguments: ["grid", "iovl", "iden"])
    func cycle(_ type: String) async throws {
        var fixture = HEIFFixture()
        let size = fixture.size(64, 64)
        let data = type == "grid" ? HEIFFixture.grid(columns: 1, rows: 1, 64, 64) : [UInt8](repeating: 0, count: 20)
        for _ in 0..<2 { fixture.item(type, data, properties: [size]) }
        fixture.refer("dimg", from: 1, to: [2])
        fixture.refer("dimg", from: 2, to: [1])
        #expect(try await refusal(fixture.bytes).code == .unsupportedType)
    }

    @Test("An overlay of itself, of metadata, or of large pictures is of a kind that isn't read, and is called so")
    func overlay() async throws {
        let tile = try CodedPicture.av1()
        for inputs in [[1, 1], [2, 1], [2, 3]] {
            var fixture = HEIFFixture()
            let size = fixture.size(64, 64)
            fixture.item("iovl", [UInt8](repeating: 0, count: 34), properties: [size])
            fixture.picture(tile)
            fixture.item("Exif", [0, 0, 0, 0, 0x49, 0x49, 42, 0])
            fixture.refer("dimg", from: 1, to: inputs)
            let error = try await refusal(fixture.bytes)
            #expect(error.code == .unsupportedType)
            #expect(error.message.contains("iovl"))
            #expect(!error.message.contains("damaged"))
        }
    }

    @Test("A grid whose tiles don't cover it would show what the memory held before", arguments: [true, false])
    func uncovered(_ isHEVC: Bool) async throws {
        let tile = try isHEVC ? CodedPicture.hevc() : CodedPicture.av1()
        let size = PixelSize(width: tile.size.width * 2 + 1, height: tile.size.height)
        let fixture = HEIFFixture.grid(of: tile, columns: 2, rows: 1, size: size)
        #expect(try await refusal(fixture.bytes).code == .undecodable)
    }

    @Test("A tile that says another size than it is coded with", arguments: [true, false])
    func lyingTile(_ isHEVC: Bool) async throws {
        let tile = try isHEVC ? CodedPicture.hevc() : CodedPicture.av1()
        var fixture = HEIFFixture.grid(of: tile, columns: 2, rows: 2, size: PixelSize(width: 1000, height: 800))
        // Properties in their order: the canvas, and the tile's.
        fixture.properties[1] = ISOBox.bytes("ispe", 0.bigEndian(4) + 500.bigEndian(4) + 400.bigEndian(4))
        #expect(try await refusal(fixture.bytes).code == .undecodable)
    }

    @Test("Tiles that are cropped or turned, or of another kind")
    func tiles() async throws {
        let tile = try CodedPicture.av1()
        let size = PixelSize(width: tile.size.width * 2, height: tile.size.height)
        for (type, content) in [("clap", HEIFFixture.crop(64, 64)), ("irot", [1]), ("imir", [1])] {
            let fixture = HEIFFixture.grid(of: tile, columns: 2, rows: 1, size: size) {
                [$0.property(type, content)]
            }
            #expect(try await refusal(fixture.bytes).code == .unsupportedType)
        }
        var mixed = HEIFFixture.grid(of: tile, columns: 2, rows: 1, size: size)
        mixed.items[2].type = "hvc1"
        #expect(try await refusal(mixed.bytes).code == .undecodable)
    }

    @Test("Many tiles or none, two lists of them, one tile for many")
    func tileCounts() async throws {
        let tile = try CodedPicture.av1()
        let size = PixelSize(width: tile.size.width * 2, height: tile.size.height)
        var fixture = HEIFFixture.grid(of: tile, columns: 2, rows: 1, size: size)
        for targets in [[], [2], [2, 3, 2], [2, 9]] {
            fixture.references[0].to = targets
            #expect(try await refusal(fixture.bytes).code == .undecodable)
        }
        fixture.references[0].to = [2]
        fixture.refer("dimg", from: 1, to: [3])
        #expect(try await refusal(fixture.bytes).code == .undecodable)
    }

    @Test("More work than the picture shows counts against the limit of pixels")
    func multiplied() async throws {
        let tile = try CodedPicture.av1()
        let (width, height) = (tile.size.width, tile.size.height)
        // Four tiles, of which hardly more than one is shown.
        let fixture = HEIFFixture.grid(
            of: tile, columns: 2, rows: 2, size: PixelSize(width: width + 1, height: height + 1))
        let limited = Decode(limits: ImageLimits(pixels: width * height * 2))
        let error = try await #require(throws: LoadError.self) {
            try await SampleImage.decode(fixture.bytes, with: limited)
        }
        #expect(error.code == .tooManyPixels)
        #expect(try await SampleImage.decode(fixture.bytes).size == PixelSize(width: width + 1, height: height + 1))
    }

    @Test("Many hidden pictures in one item count against it too")
    func hidden() async throws {
        let picture = try CodedPicture.av1()
        var fixture = HEIFFixture.single(picture)
        fixture.items[0].data = [[UInt8]](repeating: picture.data, count: 4).flatMap { $0 }
        let limited = Decode(limits: ImageLimits(pixels: picture.size.width * picture.size.height * 3))
        let error = try await #require(throws: LoadError.self) {
            try await SampleImage.decode(fixture.bytes, with: limited)
        }
        #expect(error.code == .tooManyPixels)
        let hevc = try CodedPicture.hevc()
        var other = HEIFFixture.single(hevc)
        other.items[0].data = hevc.data + hevc.data
        #expect(try await refusal(other.bytes).code == .unsupportedType)
    }

    @Test("A second list of items, or a second entry of one, would be read differently by others")
    func ambiguous() async throws {
        let picture = try CodedPicture.av1()
        let honest = HEIFFixture.single(picture)
        var second = honest
        second.properties[0] = ISOBox.bytes("ispe", 0.bigEndian(4) + 12_000.bigEndian(4) + 12_000.bigEndian(4))
        #expect(try await refusal(honest.bytes + second.list(at: 28)).code == .undecodable)
        // An entry, a place, properties and a whole box of the list.
        let number: [UInt8] = [0, 1, 0, 0]
        let entry = ISOBox.bytes("infe", [2, 0, 0, 0] + number + Array("Exif".utf8) + [0])
        let place: [UInt8] = [0, 1, 0, 0, 0, 0, 0, 0]
        for (name, addition, count) in [("iinf", entry, 4), ("iloc", place, 6)] {
            #expect(try await refusal(inserting(addition, into: name, count: count, honest.bytes)).code == .undecodable)
        }
        for box in ["iinf", "iloc", "iprp", "pitm"] {
            var twice = honest
            twice.parts = ISOBox.bytes(box, 0.bigEndian(8))
            #expect(try await refusal(twice.bytes).code == .undecodable)
        }
    }

    /// Puts an entry behind the others of a box of the list, which counts it.
    /// - Parameter count: where in the box its number of entries stands.
    private func inserting(_ entry: [UInt8], into name: String, count: Int, _ file: [UInt8]) throws -> [UInt8] {
        var bytes = file
        let place = try #require(bytes.firstRange(of: Array(name.utf8))).lowerBound - 4
        let length = try #require(bytes[...].number(at: place, bytes: 4))
        let start = place + 8 + count
        let number = try #require(bytes[...].number(at: start, bytes: 2))
        bytes.replaceSubrange(start..<start + 2, with: (number + 1).bigEndian(2))
        bytes.replaceSubrange(place..<place + 4, with: (length + entry.count).bigEndian(4))
        bytes.insert(contentsOf: entry, at: place + length)
        let list = try #require(bytes.firstRange(of: Array("meta".utf8))).lowerBound - 4
        let whole = try #require(bytes[...].number(at: list, bytes: 4))
        bytes.replaceSubrange(list..<list + 4, with: (whole + entry.count).bigEndian(4))
        return bytes
    }

    @Test("Items that share their bytes many times over aren't copied")
    func amplified() async throws {
        let picture = try CodedPicture.hevc()
        var fixture = HEIFFixture.single(picture)
        fixture.item("junk", [UInt8](repeating: 0, count: 150_000))
        for index in 0..<500 {
            fixture.item("Exif")
            fixture.items[index + 2].extents = Array(repeating: (offset: 0, length: 150_000), count: 32)
            fixture.refer("cdsc", from: index + 3, to: [1])
        }
        // Nobody needs them: the picture is shown, and the metadata are left out.
        #expect(try await SampleImage.decode(fixture.bytes).size == picture.size)
        #expect(try await ImageMetadata(of: fixture.bytes).exifByteCount == 0)
        var own = HEIFFixture.single(picture)
        own.items[0].extents = Array(repeating: (offset: 0, length: 1000), count: 32)
        #expect(try await refusal(own.bytes).code == .undecodable)
    }

    @Test("Numbers of endless zeros, in as many items as a file may have, are read in no time")
    func zeros() async throws {
        // A sequence header whose timing is such a number.
        let unit: [UInt8] = [1 << 3 | 2, 0xff, 0xff, 0x7f] + [0, 0x80 >> 1] + [UInt8](repeating: 0, count: 2_000_000)
        var budget = 100
        let began = ContinuousClock.now
        for _ in 0..<50 { _ = AV1Bitstream(unit[...], budget: &budget) }
        var reader = BitReader(unit[6...])
        #expect(reader.exponentialGolomb() == nil)
        // Fifty times a hundred bytes, not fifty times two million.
        #expect(ContinuousClock.now - began < .seconds(2))
    }

    @Test("Endless parts are refused instead of read")
    func endless() async throws {
        var places: [UInt8] = 0.bigEndian(6) + 1000.bigEndian(2)
        for id in 0..<1000 { places += id.bigEndian(2) + [0, 0, 0xff, 0xff] }
        let list = ISOBox.bytes("meta", 0.bigEndian(4) + ISOBox.bytes("iloc", places))
        let file = ISOBox.bytes("ftyp", Array("heic\0\0\0\0heic".utf8)) + list
        #expect(try await refusal(file).code == .undecodable)
        let boxes = [[UInt8]](repeating: ISOBox.bytes("free", []), count: 200_000).flatMap { $0 }
        #expect(try await refusal(ISOBox.bytes("ftyp", Array("avif\0\0\0\0avif".utf8)) + boxes).code == .undecodable)
    }

    @Test("Boxes in boxes in boxes of a sequence are left alone")
    func nested() async throws {
        var inner: [UInt8] = []
        for _ in 0..<9900 { inner = ISOBox.bytes("minf", inner) }
        let movie = ISOBox.bytes("moov", ISOBox.bytes("trak", ISOBox.bytes("mdia", inner)))
        let file = ISOBox.bytes("ftyp", Array("avis\0\0\0\0avis".utf8)) + movie
        #expect(try await refusal(file).code == .unsupportedType)
    }

    @Test("What lies outside of the file, in another one, or is encrypted")
    func elsewhere() async throws {
        let picture = try CodedPicture.hevc()
        var outside = HEIFFixture.single(picture)
        outside.items[0].data = []
        for (offset, length) in [(1 << 31, 100), (0, 1 << 31), ((1 << 32) - 1, (1 << 32) - 1)] {
            outside.items[0].extents = [(offset, length)]
            #expect(try await refusal(outside.bytes).code == .undecodable)
        }
    }

    @Test("Any damaged file of tiles gives an error or a picture", arguments: [true, false])
    func damaged(_ isHEVC: Bool) async throws {
        let tile = try isHEVC ? CodedPicture.hevc() : CodedPicture.av1()
        let size = PixelSize(width: tile.size.width * 2, height: tile.size.height)
        let bytes = HEIFFixture.grid(of: tile, columns: 2, rows: 1, size: size).bytes
        var random = SeededGenerator(seed: 11)
        let end = bytes.count - 2 * tile.data.count
        for _ in 0..<300 {
            var damaged = bytes
            for _ in 0..<3 {
                damaged[Int.random(in: 12..<end, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            do {
                let image = try await SampleImage.decode(
                    damaged, with: Decode(limits: ImageLimits(pixels: 2_000_000)))
                #expect(image.pixels.count == image.width * image.height * image.layout.channelCount)
            } catch let error as LoadError {
                #expect([.undecodable, .unsupportedType, .tooManyPixels].contains(error.code), "\(error)")
            }
        }
    }
}

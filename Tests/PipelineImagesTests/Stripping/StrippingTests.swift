import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("Metadata is removed from a file without re-encoding it")
struct StrippingTests {
    /// EXIF of a picture that was turned and taken in Berlin: an orientation, a maker, and the directory of the place.
    private static let exif: [UInt8] = {
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            tag.bigEndian(2) + type.bigEndian(2) + count.bigEndian(4) + value
        }
        let angles = [52, 1, 30, 1, 36, 1, 13, 1, 24, 1, 0, 0].flatMap { $0.bigEndian(4) }
        let main =
            entry(0x010f, 2, 4, Array("Ann\0".utf8)) + entry(0x0112, 3, 1, [0, 6, 0, 0])
            + entry(0x8825, 4, 1, 62.bigEndian(4)) + entry(0x8298, 2, 4, Array("Bob\0".utf8))
        let place =
            entry(1, 2, 2, Array("N\0\0\0".utf8)) + entry(2, 5, 3, 116.bigEndian(4))
            + entry(3, 2, 2, Array("W\0\0\0".utf8)) + entry(4, 5, 3, 140.bigEndian(4))
        return [0x4d, 0x4d, 0, 42] + 8.bigEndian(4) + 4.bigEndian(2) + main + 0.bigEndian(4) + 4.bigEndian(2) + place
            + 0.bigEndian(4) + angles
    }()

    private static let place = Array(#"<x exif:GPSLatitude="52,30N"/>"#.utf8)

    private static func file(_ format: ImageFormat, exif: [UInt8] = exif, xmp: [UInt8] = place) throws -> [UInt8] {
        let pixels = (0..<3 * 40 * 24).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let image = DecodedImage(size: PixelSize(width: 40, height: 24), layout: .rgb, pixels: pixels)
        return try EncodeOptions().file(
            of: image, format, metadata: EmbeddedMetadata(exif: exif, xmp: xmp, profile: ICCProfile.sRGB))
    }

    private static let formats: [ImageFormat] = [.jpeg, .png, .webp]

    @Test("A file without any looks the same: its orientation and profile stay", arguments: formats)
    func all(_ format: ImageFormat) async throws {
        let file = try Self.file(format)
        let stripped = try await ImageCodecs.standard.stripped(file, of: .all)
        let metadata = try await ImageMetadata(of: stripped)
        #expect(metadata.orientation == .right)
        #expect(metadata.location == nil && metadata.camera == nil && metadata.xmpByteCount == 0)
        let blocks = try ImageCodecs.metadata(of: stripped, format)
        #expect(blocks.profile == ICCProfile.sRGB)
        #expect(blocks.exif == EXIFRewriting.oriented(.right))
        #expect(try await SampleImage.decode(stripped).pixels == (try await SampleImage.decode(file)).pixels)
        let upright = try await ImageCodecs.standard.stripped(try Self.file(format, exif: []), of: .all)
        #expect(try ImageCodecs.metadata(of: upright, format).exif.isEmpty)
        #expect(try await ImageCodecs.standard.stripped(stripped, of: .all) == stripped)
    }

    @Test("The place alone can go", arguments: formats)
    func place(_ format: ImageFormat) async throws {
        let file = try Self.file(format)
        let before = try #require(try await ImageMetadata(of: file).location)
        #expect(abs(before.latitude - 52.51) < 1e-9 && abs(before.longitude + 13.4) < 1e-9)
        let stripped = try await ImageCodecs.standard.stripped(file, of: .location)
        let metadata = try await ImageMetadata(of: stripped)
        #expect(metadata.location == nil && metadata.xmpByteCount == 0)
        #expect(metadata.camera == "Ann" && metadata.orientation == .right)
        let block = try #require(EXIFBlock(try ImageCodecs.metadata(of: stripped, format).exif))
        #expect(block.mainEntries.map(\.tag) == [0x010f, 0x0112, 0x8298])
        #expect(block.text(EXIFBlock.Tag.copyright, in: block.mainEntries) == "Bob")
        // Not a degree is left of it.
        #expect(!block.bytes.contains(52))
        let text = Array("<x:xmpmeta/>".utf8)
        let other = try await ImageCodecs.standard.stripped(try Self.file(format, xmp: text), of: .location)
        #expect(try ImageCodecs.metadata(of: other, format).xmp == text)
    }

    @Test("Where EXIF is damaged, so that others may read a place in it, it goes as a whole", arguments: [0, 4, 8, 20])
    func damaged(_ directory: Int) throws {
        let link = try #require(Self.exif.firstRange(of: [0x88, 0x25])?.lowerBound) + 8
        var exif = Self.exif
        exif.replaceSubrange(link..<link + 4, with: directory.bigEndian(4))
        #expect(EXIFRewriting.withoutLocation(exif).isEmpty)
        #expect(EXIFRewriting.withoutLocation(Array(Self.exif.dropFirst())).isEmpty)
    }

    @Test("A damaged block that goes as a whole leaves the picture upright")
    func damagedOrientation() async throws {
        let link = try #require(Self.exif.firstRange(of: [0x88, 0x25])?.lowerBound) + 8
        var exif = Self.exif
        exif.replaceSubrange(link..<link + 4, with: 8.bigEndian(4))
        let stripped = try await ImageCodecs.standard.stripped(try Self.file(.jpeg, exif: exif), of: .location)
        #expect(try await ImageMetadata(of: stripped).orientation == .right)
    }

    @Test(
        "Of several blocks of EXIF the first that a header heeds is kept, even if it makes no sense",
        arguments: [StrippedMetadata.all, .location])
    func severalBlocks(_ metadata: StrippedMetadata) async throws {
        func segment(_ exif: [UInt8]) -> [UInt8] {
            let body = Array("Exif\0\0".utf8) + exif
            return [0xff, 0xe1] + (body.count + 2).bigEndian(2) + body
        }
        func chunk(_ exif: [UInt8], isWhole: Bool = true) -> [UInt8] {
            var writer = PNGWriter()
            writer.write(EmbeddedMetadata(exif: exif))
            return writer.chunks.dropLast() + [writer.chunks.last! ^ (isWhole ? 0 : 1)]
        }
        let (jpeg, png) = (try Self.file(.jpeg, exif: []), try Self.file(.png, exif: []))
        let (turned, nonsense) = (Self.exif, [0x49, 0x24] + Self.exif.dropFirst(2))
        let files: [(file: [UInt8], orientation: ImageOrientation)] = [
            (jpeg[..<2] + segment(nonsense) + segment(turned) + jpeg[2...], .up),
            // It has no name.
            (jpeg[..<2] + [0xff, 0xe1] + (turned.count + 2).bigEndian(2) + turned + jpeg[2...], .up),
            (png[..<33] + chunk(nonsense) + chunk(turned) + png[33...], .up),
            (png[..<33] + chunk(turned) + chunk(nonsense) + png[33...], .right),
            (png[..<33] + chunk(turned, isWhole: false) + png[33...], .up),
        ]
        for (index, (file, orientation)) in files.enumerated() {
            let stripped = try await ImageCodecs.standard.stripped(Array(file), of: metadata)
            #expect(try await ImageMetadata(of: Array(file)).orientation == orientation, "\(index)")
            #expect(try await ImageMetadata(of: stripped).orientation == orientation, "\(index)")
        }
    }

    @Test("Fill bytes within a scan and reserved markers change nothing", arguments: [StrippedMetadata.all, .location])
    func fillBytes(_ metadata: StrippedMetadata) async throws {
        var file = try Pictures.bytes("good/jpeg-greyscale.jpg")
        let scan = try #require(file.firstRange(of: [0xff, 0xda])?.lowerBound)
        let pixel = try #require(file[scan...].firstRange(of: [0xff, 0x00])?.lowerBound)
        file.insert(0xff, at: pixel)
        let tables = try #require(file.firstRange(of: [0xff, 0xdb])?.lowerBound)
        file.insert(contentsOf: [0xff, 0xf3, 0x12, 0x34], at: tables)
        let stripped = try await ImageCodecs.standard.stripped(file, of: metadata)
        #expect(try await SampleImage.decode(stripped).pixels == (try await SampleImage.decode(file)).pixels)
    }

    @Test("An encoding leaves the place out too", arguments: formats)
    func encoding(_ format: ImageFormat) async throws {
        let file = try #require(
            try await SampleImage.load(try Self.file(.jpeg)) {
                Decode()
                Encode(format, options: EncodeOptions(metadata: .noGPS))
            }.encoded)
        let metadata = try await ImageMetadata(of: file.bytes)
        #expect(metadata.location == nil && metadata.camera == "Ann" && metadata.xmpByteCount == 0)
        #expect(metadata.profile != nil && metadata.orientation == .up)
    }

    @Test(
        "Of every good JPEG, PNG and WebP the pixels stay as they are coded",
        arguments: [
            "exif-orientation-6.jpg", "jpeg-cmyk-icc.jpg", "jpeg-exif-xmp-icc.jpg", "jpeg-icc-display-p3.jpg",
            "jpeg-progressive-444.jpg", "jpeg-restart-markers.jpg", "jpeg-ultrahdr-gainmap-mpf.jpg", "png-basi2c08.png",
            "png-icc-rec2020.png", "png-tbbn3p08.png", "png-apng-animated.png", "webp-animated.webp",
            "webp-lossless.webp", "webp-lossy-alpha.webp", "webp-lossy.webp",
        ])
    func pictures(name: String) async throws {
        let file = try Pictures.bytes("good/\(name)")
        for kind in [StrippedMetadata.all, .location] {
            let stripped = try await ImageCodecs.standard.stripped(file, of: kind)
            #expect(stripped.count <= file.count)
            let (before, after) = (try await ImageMetadata(of: file), try await ImageMetadata(of: stripped))
            #expect(before.orientation == after.orientation && before.profile == after.profile)
            #expect(before.frames == after.frames && before.loopCount == after.loopCount)
            let (old, new) = (try await SampleImage.decode(file), try await SampleImage.decode(stripped))
            #expect(old.pixels == new.pixels)
        }
    }

    @Test("Comments, thumbnails, texts and what follows the end go")
    func secrets() async throws {
        let secret = Array("secret".utf8)
        func isClean(_ file: [UInt8], _ kind: StrippedMetadata = .all) async throws -> Bool {
            try await ImageCodecs.standard.stripped(file, of: kind).firstRange(of: secret) == nil
        }
        let jpeg = try Self.file(.jpeg)
        func begun(_ segments: [UInt8]) -> [UInt8] { Array(jpeg[..<2]) + segments + Array(jpeg[2...]) }
        let comment: [UInt8] = [0xff, 0xfe, 0, 8] + secret
        let preview: [UInt8] = [0xff, 0xe2, 0, 14] + Array("MPF\0".utf8) + [0, 0] + secret
        #expect(try await isClean(begun(comment + preview) + secret))
        #expect(try await !isClean(begun(comment), .location))
        #expect(try await isClean(begun(preview) + secret, .location))
        await #expect(throws: LoadError.self) {
            try await ImageCodecs.standard.stripped(Array(jpeg.dropLast(2)), of: .all)
        }

        let png = try Self.file(.png)
        #expect(try await isClean(png + secret))
        await #expect(throws: LoadError.self) {
            try await ImageCodecs.standard.stripped(Array(png.dropLast(12)), of: .all)
        }
        let webp = try Self.file(.webp)
        let body = Array(webp[8...]) + Array("SCRT".utf8) + 6.littleEndian(4) + secret
        #expect(try await isClean(Array(webp[..<4]) + body.count.littleEndian(4) + body))
    }

    @Test("Hostile EXIF loses the place, or is refused, and never ends the program")
    func hostile() throws {
        for index in Self.exif.indices {
            for value in [0, 1, 0x7f, 0xff] as [UInt8] {
                var exif = Self.exif
                exif[index] = value
                _ = EXIFBlock(EXIFRewriting.withoutLocation(exif))?.location
                _ = EXIFRewriting.withoutLocation(Array(exif[..<index]))
            }
        }
        #expect(EXIFBlock(EXIFRewriting.withoutLocation(Self.exif))?.location == nil)
    }

    @Test("Damaged files, cut off anywhere, give an error or a file that says the same")
    func damaged() async throws {
        for (name, _) in try SampleImage.manifest("bad") {
            let file = try Pictures.bytes("bad/\(name)")
            guard let stripped = try? await ImageCodecs.standard.stripped(file, of: .all) else { continue }
            let (before, after) = (try await ImageMetadata(of: file), try await ImageMetadata(of: stripped))
            #expect(before.size == after.size && before.profile == after.profile, "\(name)")
        }
        for format in Self.formats {
            let file = try Self.file(format)
            for count in stride(from: 1, to: file.count - 1, by: 41) {
                for kind in [StrippedMetadata.all, .location] {
                    await #expect(throws: LoadError.self, "\(format) of \(count) bytes") {
                        try await ImageCodecs.standard.stripped(Array(file[..<count]), of: kind)
                    }
                }
            }
        }
    }

    @Test("Other formats are refused", arguments: ["gif-animated.gif", "avif-photo.avif", "tiff-deflate-strip.tif"])
    func others(name: String) async throws {
        let file = try Pictures.bytes("good/\(name)")
        await #expect(throws: LoadError.self) { try await ImageCodecs.standard.stripped(file, of: .all) }
    }
}

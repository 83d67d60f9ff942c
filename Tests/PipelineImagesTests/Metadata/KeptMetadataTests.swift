import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("Encode keeps of the source's metadata what is asked for, and makes it true of the new picture")
struct KeptMetadataTests {
    private static let formats: [ImageFormat] = [.jpeg, .png, .webp, .avif]

    private func kept(
        _ path: String, _ format: ImageFormat, _ metadata: KeptMetadata, maxPixelSize: PixelSize? = 100
    ) async throws -> (blocks: EmbeddedMetadata, file: [UInt8]) {
        let file = try await kept(try Pictures.bytes(path), format, metadata, maxPixelSize: maxPixelSize)
        return (try ImageCodecs.metadata(of: file, format), file)
    }

    private func kept(
        _ bytes: [UInt8], _ format: ImageFormat, _ metadata: KeptMetadata, maxPixelSize: PixelSize? = 100
    ) async throws -> [UInt8] {
        try #require(
            try await SampleImage.load(bytes, maxPixelSize: maxPixelSize) {
                Decode()
                Downscale()
                Encode(format, options: EncodeOptions(metadata: metadata))
            }.encoded
        ).bytes
    }

    @Test("EXIF, XMP and profile are kept in every format that has a place for them", arguments: formats)
    func all(_ format: ImageFormat) async throws {
        let (blocks, _) = try await kept("good/jpeg-exif-xmp-icc.jpg", format, .all)
        #expect(!blocks.exif.isEmpty)
        #expect(!blocks.xmp.isEmpty)
        #expect(blocks.profile == ICCProfile.sRGB)
        let exif = try #require(EXIFBlock(blocks.exif))
        #expect(exif.orientation == .up)
    }

    @Test("A decoder stage of one's own leaves the file, whose metadata is then kept")
    func ownDecoder() async throws {
        let own = ClosureStage("Own", accepts: .original, produces: .decoded, signature: "own") { load in
            guard case .original(let file) = load.content else { return .skipped }
            load.attach(DecodedSource(file: file, format: .jpeg))
            load.advance(to: .decoded(try await DecodedImage(decoding: file.bytes)))
            return .done
        }
        let encode = Encode(.png, options: EncodeOptions(metadata: .all))
        let response = try await SampleImage.load(try Pictures.bytes("good/jpeg-exif-xmp-icc.jpg"), maxPixelSize: nil) {
            own
            encode
        }
        #expect(!(try ImageCodecs.metadata(of: try #require(response.encoded).bytes, .png)).exif.isEmpty)
    }

    @Test("They are read from every format too", arguments: formats)
    func sources(_ format: ImageFormat) async throws {
        let source = try await kept("good/jpeg-exif-xmp-icc.jpg", format, .all).file
        let again = try ImageCodecs.metadata(of: try await kept(source, .jpeg, .all), .jpeg)
        #expect(!again.exif.isEmpty)
        #expect(!again.xmp.isEmpty)
        #expect(!again.profile.isEmpty)
    }

    @Test("A turned source's EXIF says upright, with the new size", arguments: [2, 3, 4, 5, 6, 7, 8])
    func orientation(_ value: Int) async throws {
        let file = try await kept("good/exif-orientation-\(value).jpg", .jpeg, .all, maxPixelSize: nil).file
        let metadata = try await ImageMetadata(of: file)
        #expect(metadata.orientation == .up)
        #expect(metadata.exifByteCount > 0)
        let again = try await SampleImage.decode(file)
        let expected = try await SampleImage.decode(try Pictures.bytes("good/exif-orientation-\(value).jpg"))
        #expect(again.difference(from: expected) < 6)
    }

    @Test("A kept profile is that of the pixels, and Display P3 has one in any case")
    func profile() async throws {
        let (blocks, _) = try await kept("good/jpeg-exif-xmp-icc.jpg", .png, .icc)
        #expect(blocks.profile == ICCProfile.sRGB)
        #expect(ICCProfile(blocks.profile).isSRGB)
        #expect(ICCProfile(blocks.profile).name == "sRGB")
        #expect(try await kept("good/jpeg-exif-xmp-icc.jpg", .png, .none).blocks.profile.isEmpty)
        let wide = try await kept("good/jpeg-icc-display-p3.jpg", .png, .icc)
        #expect(wide.blocks.profile == ICCProfile.displayP3)
        #expect(ICCProfile(wide.blocks.profile).name == "Display P3")
        #expect(try await kept("good/jpeg-icc-display-p3.jpg", .png, .none).file == wide.file)
        #expect(try await kept("good/exif-orientation-1.jpg", .png, .icc).blocks.profile.isEmpty)
    }

    @Test("Copyright keeps the artist and the owner and nothing else")
    func copyright() async throws {
        let exif = EXIFRewriting.composed(of: [
            (EXIFBlock.Tag.make, Array("Maker".utf8)), (EXIFBlock.Tag.artist, Array("Ann".utf8)),
            (EXIFBlock.Tag.copyright, [0xa9] + Array(" 2026 Ann Artist".utf8)),
        ])
        let image = DecodedImage(size: 8, layout: .rgb, pixels: [UInt8](repeating: 7, count: 192))
        let source = try EncodeOptions().file(
            of: image, .jpeg, metadata: EmbeddedMetadata(exif: exif, xmp: Array("<x/>".utf8)))
        for format in Self.formats {
            let file = try await kept(source, format, .copyright)
            let blocks = try ImageCodecs.metadata(of: file, format)
            let block = try #require(EXIFBlock(blocks.exif), "\(format)")
            #expect(block.text(EXIFBlock.Tag.artist, in: block.mainEntries) == "Ann")
            #expect(block.text(EXIFBlock.Tag.copyright, in: block.mainEntries) == "© 2026 Ann Artist")
            #expect(block.camera == nil)
            #expect(blocks.xmp.isEmpty)
        }
    }

    @Test("None keeps nothing, and a source without metadata gives none")
    func none() async throws {
        #expect(try await kept("good/jpeg-exif-xmp-icc.jpg", .jpeg, .none).blocks.isEmpty)
        #expect(try await kept("good/jpeg-greyscale.jpg", .jpeg, .all).blocks.isEmpty)
    }

    @Test("A preview in EXIF, which would still show what was cropped, is wiped out")
    func preview() throws {
        let preview = Array("a picture of all that was there".utf8)
        var exif: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]
        exif += [1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 26, 0, 0, 0]
        exif += [
            2, 0, 1, 2, 4, 0, 1, 0, 0, 0, 56, 0, 0, 0, 2, 2, 4, 0, 1, 0, 0, 0, UInt8(preview.count), 0, 0, 0, 0, 0, 0,
            0,
        ]
        for tail in [[], Array("more behind it".utf8)] {
            let block = exif + preview + tail
            let corrected = EXIFRewriting.corrected(block, for: 10)
            #expect(EXIFBlock(corrected)?.orientation == .up)
            #expect(corrected.firstRange(of: Array("all that".utf8)) == nil)
            #expect(corrected.firstRange(of: tail) != nil || tail.isEmpty)
        }
    }

    @Test("XMP says upright, and is dropped if it tells of a second picture in the file")
    func xmp() async throws {
        let packet = Array(#"<rdf tiff:Orientation="6"/><tiff:Orientation>8</tiff:Orientation>"#.utf8)
        #expect(
            String(decoding: XMPRewriting.corrected(packet), as: UTF8.self)
                == #"<rdf tiff:Orientation="1"/><tiff:Orientation>1</tiff:Orientation>"#)
        #expect(try await kept("good/jpeg-ultrahdr-gainmap-mpf.jpg", .png, .all).blocks.xmp.isEmpty)
    }

    @Test("Damaged EXIF never fails an encoding: what makes no sense is left out")
    func damaged() throws {
        let whole = try ImageCodecs.metadata(of: try Pictures.bytes("good/jpeg-exif-xmp-icc.jpg"), .jpeg).exif
        var state: UInt64 = 7
        for _ in 0..<2000 {
            var block = whole
            for _ in 0..<4 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                block[Int(state >> 33) % min(200, block.count)] = UInt8(truncatingIfNeeded: state >> 20)
            }
            _ = EXIFRewriting.corrected(Array(block.prefix(Int(state >> 40) % block.count)), for: 10)
            let parsed = EXIFBlock(block)
            _ = (parsed?.capturedAt, parsed?.camera)
        }
    }
}

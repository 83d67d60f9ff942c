import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("A file's metadata is read without decoding a pixel")
struct ImageMetadataTests {
    private func metadata(_ path: String) async throws -> ImageMetadata {
        try await ImageMetadata(of: try Pictures.bytes(path))
    }

    @Test(
        "Format, size, frames, alpha, bits and colours are those of the file",
        arguments: [
            ("jpeg-greyscale.jpg", ImageFormat.jpeg, 100, 75, 1, false, 8, ImageMetadata.ColorModel.gray),
            ("jpeg-cmyk-icc.jpg", .jpeg, 640, 472, 1, false, 8, .cmyk),
            ("photo-12mp-baseline-420.jpg", .jpeg, 4032, 2976, 1, false, 8, .rgb),
            ("png-basn6a16.png", .png, 32, 32, 1, true, 16, .rgb),
            ("png-basn0g01.png", .png, 32, 32, 1, false, 1, .gray),
            ("png-tbbn3p08.png", .png, 32, 32, 1, true, 8, .rgb),
            ("webp-lossy.webp", .webp, 160, 120, 1, false, 8, .rgb),
            ("webp-animated.webp", .webp, 64, 48, 4, true, 8, .rgb),
            ("gif-animated.gif", .gif, 64, 48, 4, true, 8, .rgb),
            ("avif-photo.avif", .avif, 403, 302, 1, false, 8, .rgb),
            ("avif-alpha-irot.avif", .avif, 256, 512, 1, true, 8, .rgb),
            ("heic-128.heif", .heic, 128, 128, 1, false, 8, .rgb),
            ("tiff-deflate-strip.tif", .tiff, 160, 120, 1, false, 8, .rgb),
            ("bmp-rgb24.bmp", .bmp, 127, 64, 1, false, 8, .rgb),
        ])
    func formats(
        _ name: String, _ format: ImageFormat, _ width: Int, _ height: Int, _ frames: Int, _ alpha: Bool, _ bits: Int,
        _ colors: ImageMetadata.ColorModel
    ) async throws {
        let metadata = try await metadata("good/\(name)")
        #expect(metadata.format == format)
        #expect(metadata.size == PixelSize(width: width, height: height))
        #expect(metadata.frames == frames)
        #expect(metadata.hasAlpha == alpha)
        #expect(metadata.bitsPerChannel == bits)
        #expect(metadata.colors == colors)
        #expect(metadata.byteCount == (try Pictures.bytes("good/\(name)")).count)
    }

    @Test("A turned picture has an upright size besides the stored one")
    func orientation() async throws {
        let metadata = try await metadata("good/exif-orientation-6.jpg")
        #expect(metadata.orientation == .right)
        #expect(metadata.size == PixelSize(width: 50, height: 100))
        #expect(metadata.storedSize == PixelSize(width: 100, height: 50))
    }

    @Test(
        "A colour profile is told by its own name",
        arguments: [
            ("jpeg-icc-display-p3.jpg", "sP3", false), ("jpeg-exif-xmp-icc.jpg", "sRGB IEC61966-2.1", true),
            ("avif-photo.avif", "sRGB IEC61966-2.1", true), ("png-icc-rec2020.png", "2020", false),
            ("jpeg-cmyk-icc.jpg", "uCMY", false),
        ])
    func profile(_ name: String, _ expected: String, _ isSRGB: Bool) async throws {
        let profile = try #require(try await metadata("good/\(name)").profile)
        #expect(profile.name?.contains(expected) == true, "\(profile.name ?? "none")")
        #expect(profile.isSRGB == isSRGB)
        #expect(profile.byteCount > 100)
    }

    @Test("When and with what a picture was taken is read from EXIF, in every format that keeps it")
    func camera() async throws {
        let source = try await metadata("good/jpeg-exif-xmp-icc.jpg")
        #expect(source.exifByteCount > 0)
        #expect(source.xmpByteCount > 0)
        let avif = try await metadata("good/avif-photo.avif")
        #expect(avif.capturedAt == source.capturedAt)
        #expect(avif.camera == source.camera)
        let exif = EXIFRewriting.composed(of: [
            (EXIFBlock.Tag.make, Array("Canon".utf8)), (EXIFBlock.Tag.model, Array("Canon EOS 5D".utf8)),
            (EXIFBlock.Tag.dateTime, Array("2019:07:01 12:34:56".utf8)),
        ])
        let image = DecodedImage(size: 4, layout: .rgb, pixels: [UInt8](repeating: 7, count: 48))
        for format in [ImageFormat.jpeg, .png, .webp, .avif] {
            let file = try EncodeOptions().file(of: image, format, metadata: EmbeddedMetadata(exif: exif))
            let metadata = try await ImageMetadata(of: file)
            #expect(metadata.camera == "Canon EOS 5D", "\(format)")
            #expect(metadata.capturedAt == "2019-07-01T12:34:56", "\(format)")
        }
    }

    @Test("A TIFF's own date is read where the camera wrote it, and the text's date otherwise")
    func dateOfTIFF() async throws {
        var file = TIFFBytes(width: 1, height: 1, samples: 1, photometric: 1, pieces: [[9]])
        file.set(0x0132, Array("2020:01:02 03:04:05\0".utf8).map(Int.init), type: 2)
        #expect(try await ImageMetadata(of: file.bytes).capturedAt == "2020-01-02T03:04:05")
        // A directory of one entry, whose text follows it, at the file's end.
        file.set(0x8769, [0], type: 4)
        let start = file.bytes.count
        file.set(0x8769, [start], type: 4)
        let place = start + 2 + 12 + 4
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let directory = [1, 0, 0x03, 0x90, 2, 0, 20, 0, 0, 0] + little(place, 4) + little(0, 4)
        let bytes = file.bytes + directory + Array("2019:07:01 12:34:56\0".utf8)
        #expect(try await ImageMetadata(of: bytes).capturedAt == "2019-07-01T12:34:56")
    }

    @Test("A date of zeros, as a camera writes whose clock was never set, is none")
    func noDate() {
        for text in ["0000:00:00 00:00:00", "    :  :     :  :  ", "2019", "2019:13:01 00:00:00", "a:b:c d:e:f"] {
            let exif = EXIFRewriting.composed(of: [(EXIFBlock.Tag.dateTime, Array(text.utf8))])
            #expect(EXIFBlock(exif)?.capturedAt == nil)
        }
    }

    @Test("A text that would talk to a terminal has its control characters taken out")
    func controlCharacters() throws {
        let exif = EXIFRewriting.composed(of: [(EXIFBlock.Tag.model, Array("X\u{1b}[31m\u{7}Y".utf8))])
        #expect(EXIFBlock(exif)?.camera == "X[31mY")
    }

    @Test("A bomb is described, not decoded")
    func bomb() async throws {
        #expect(
            try await metadata("bad/png-bomb-header-50000x50000.png").size == PixelSize(width: 50_000, height: 50_000))
        #expect(try await metadata("bad/webp-bomb-16383x16383-32-bytes.webp").size == 16_383)
    }

    @Test(
        "What is not an image, is empty, is not chosen or has too many bytes is a clear error",
        arguments: [
            ("bad/html-served-as-image.jpg", LoadError.Code.undecodable), ("bad/zero-bytes.png", .undecodable),
            ("good/svg-shapes.svg", .unsupportedType), ("good/jxl.jxl", .unsupportedType),
        ])
    func refused(_ path: String, _ code: LoadError.Code) async throws {
        let error = try await #require(throws: LoadError.self) { try await metadata(path) }
        #expect(error.code == code)
        #expect(!error.message.isEmpty)
        let large = try await #require(throws: LoadError.self) {
            try await ImageMetadata(
                of: try Pictures.bytes("good/webp-lossy.webp"), limits: ImageLimits(encodedBytes: 100))
        }
        #expect(large.code == .tooManyBytes)
    }

    @Test("A header that is cut off anywhere is an error or a description, never a crash")
    func cutOff() async throws {
        for name in [
            "jpeg-exif-xmp-icc.jpg", "png-icc-rec2020.png", "webp-animated.webp", "gif-animated.gif", "avif-photo.avif",
            "tiff-deflate-strip.tif", "bmp-rgb24.bmp",
        ] {
            let bytes = try Pictures.bytes("good/\(name)")
            for count in stride(from: 1, to: min(bytes.count, 2000), by: 61) {
                do {
                    let metadata = try await ImageMetadata(of: Array(bytes.prefix(count)))
                    #expect(metadata.size.width > 0)
                } catch let error as LoadError {
                    #expect(error.code == .undecodable, "\(name) \(count): \(error)")
                }
            }
        }
    }
}

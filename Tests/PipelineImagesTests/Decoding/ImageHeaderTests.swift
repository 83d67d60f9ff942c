import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("The header says what a picture costs before a pixel is decoded")
struct ImageHeaderTests {
    private func header(_ path: String) throws -> ImageHeader {
        let bytes = try Pictures.bytes(path)
        let format = try #require(ImageCodecs.known.format(of: bytes))
        let decoder = try #require(ImageCodecs.standard.codec(for: format)?.decoder)
        return try decoder.header(of: bytes, cancellation: WorkCancellation())
    }

    @Test("Stored size, orientation and upright size are told apart")
    func orientation() throws {
        let header = try header("good/exif-orientation-6.jpg")
        #expect(header.storedSize == PixelSize(width: 100, height: 50))
        #expect(header.orientation == .right)
        #expect(header.size == PixelSize(width: 50, height: 100))
    }

    @Test("HEIF's own rotation is part of the stored size, so that it is never applied twice")
    func heifRotation() throws {
        let header = try header("good/avif-alpha-irot.avif")
        #expect(header.storedSize == PixelSize(width: 256, height: 512))
        #expect(header.orientation == .up)
        #expect(header.hasAlpha)
    }

    @Test(
        "Frames are counted",
        arguments: [
            ("good/gif-animated.gif", 4), ("good/gif-disposal-1231-transparent.gif", 4), ("good/webp-animated.webp", 4),
            ("good/webp-lossy.webp", 1), ("good/jpeg-greyscale.jpg", 1), ("good/png-apng-animated.png", 4),
        ])
    func frames(_ path: String, _ count: Int) throws { #expect(try header(path).frames == count) }

    @Test("Alpha, depth and profile are known")
    func details() throws {
        let deep = try header("good/png-basn6a16.png")
        #expect(deep.bitsPerChannel == 16)
        #expect(deep.hasAlpha)
        #expect(!deep.hasProfile)
        #expect(try header("good/jpeg-icc-display-p3.jpg").hasProfile)
        #expect(try !header("good/webp-lossy.webp").hasAlpha)
        #expect(try header("good/webp-lossy-alpha.webp").hasAlpha)
    }

    @Test(
        "A bomb is refused by its header",
        arguments: [
            ("bad/jpeg-progressive-bomb-20000x20000.jpg", "20000×20000"),
            ("bad/png-bomb-header-50000x50000.png", "50000×50000"),
            ("bad/webp-bomb-16383x16383-32-bytes.webp", "16383×16383"),
        ])
    func bombs(_ path: String, _ size: String) async throws {
        let error = try await #require(throws: LoadError.self) {
            try await SampleImage.decode(try Pictures.bytes(path))
        }
        #expect(error.code == .tooManyPixels)
        #expect(error.message.contains(size))
        #expect(error.message.contains("50000000"))
    }

    @Test("The limit of pixels counts all frames that would be decoded")
    func pixelsOfFrames() async throws {
        let bytes = try Pictures.bytes("good/gif-animated.gif")
        let area = 64 * 48
        let one = Decode(limits: ImageLimits(pixels: area))
        #expect(try await SampleImage.decode(bytes, with: one).frames.count == 1)
        let four = Decode(limits: ImageLimits(pixels: 4 * area, frames: 9))
        #expect(try await SampleImage.decode(bytes, with: four).frames.count == 4)
        let tooFew = Decode(limits: ImageLimits(pixels: 4 * area - 1, frames: 9))
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(bytes, with: tooFew) }
        #expect(error.code == .tooManyPixels)
    }

    @Test("The limit of bytes is held against the file before it is opened")
    func bytes() async throws {
        let bytes = try Pictures.bytes("good/webp-lossy.webp")
        let exact = Decode(limits: ImageLimits(encodedBytes: bytes.count))
        _ = try await SampleImage.decode(bytes, with: exact)
        let error = try await #require(throws: LoadError.self) {
            try await SampleImage.decode(bytes, with: Decode(limits: ImageLimits(encodedBytes: bytes.count - 1)))
        }
        #expect(error.code == .tooManyBytes)
    }

    @Test("The limits are 50 million pixels, 64 million bytes and one frame unless others are set")
    func defaults() {
        #expect(ImageLimits() == ImageLimits(pixels: 50_000_000, encodedBytes: 64_000_000, frames: 1))
    }

    @Test("Sizes whose product overflows are too large, not a crash")
    func overflow() {
        let header = ImageHeader(
            format: .png, storedSize: PixelSize(width: .max, height: .max), frames: .max)
        #expect(throws: LoadError.self) { try ImageLimits(frames: .max).check(header) }
    }

    @Test("EXIF's orientation is read in both byte orders, and upright where it makes no sense")
    func exif() {
        let little: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
        #expect(EXIFBlock(little)?.orientation == .right)
        #expect(EXIFBlock([0x45, 0x78, 0x69, 0x66, 0, 0] + little)?.orientation == .right)
        let big: [UInt8] = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0]
        #expect(EXIFBlock(big)?.orientation == .left)
        for length in 4..<little.count {
            let orientation = EXIFBlock(little.prefix(length))?.orientation
            #expect(orientation == .up || (orientation == .right && length >= 20))
        }
        #expect(EXIFBlock(Array(little.prefix(18)) + [9, 0, 0, 0])?.orientation == .up)
        #expect(EXIFBlock([1, 2, 3]) == nil)
    }

    @Test(
        "An orientation of 32 bits, as some programs write it, counts, and is upright in what is kept",
        arguments: [4, 9])
    func longOrientation(_ type: UInt8) {
        let block: [UInt8] = [
            0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, type, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0,
        ]
        #expect(EXIFBlock(block)?.orientation == .right)
        let kept = EXIFRewriting.corrected(block, for: PixelSize(width: 1, height: 1))
        #expect(EXIFBlock(kept)?.orientation == .up)
    }

    @Test("How much larger than its box a picture is decides the size of the blocks whose means are taken")
    func blocks() {
        let size = PixelSize(width: 4032, height: 2976)
        func block(_ side: Int, _ quality: DecodeQuality) -> Int {
            ResamplePlan(from: size, to: size.fitted(into: PixelSize(square: side)), reserve: quality.blockReserve)
                .block
        }
        #expect(block(300, .quality) == 5)
        #expect(block(300, .fast) == 8)
        #expect(block(3000, .fast) == 1)
        #expect(block(5000, .quality) == 1)
        #expect(block(1, .quality) == 255)
    }
}

import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("The thumbnail in a JPEG's EXIF is decoded where speed counts, and it does as well")
struct JPEGThumbnailTests {
    private let fast = Decode(quality: .fast)
    private let colors = (picture: [0, 0, 200] as [UInt8], thumbnail: [200, 0, 0] as [UInt8])

    /// A picture of one colour whose upper left quarter is white.
    private func jpeg(_ width: Int, _ height: Int, _ color: [UInt8]) async throws -> [UInt8] {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width { pixels += x < width / 2 && y < height / 2 ? [255, 255, 255] : color }
        }
        let image = DecodedImage(size: PixelSize(width: width, height: height), layout: .rgb, pixels: pixels)
        return try #require(try await SampleImage.process(image) { Encode(.jpeg, quality: 95) }.encoded?.bytes)
    }

    /// EXIF with two directories: the picture's, and the thumbnail's.
    private func exif(_ thumbnail: [UInt8], main: Int?, own: Int?, length: Int? = nil) -> [UInt8] {
        func entry(_ tag: Int, _ type: Int, _ value: [UInt8]) -> [UInt8] {
            tag.bigEndian(2) + type.bigEndian(2) + 1.bigEndian(4) + value
        }
        func orientation(_ value: Int?) -> [[UInt8]] {
            value.map { [entry(0x0112, 3, $0.bigEndian(2) + [0, 0])] } ?? []
        }
        let first = orientation(main)
        let second = 8 + 2 + 12 * first.count + 4
        let count = 3 + orientation(own).count
        let place = second + 2 + 12 * count + 4
        var entries = [entry(0x0103, 3, [0, 6, 0, 0])] + orientation(own)
        entries.append(entry(0x0201, 4, place.bigEndian(4)))
        entries.append(entry(0x0202, 4, (length ?? thumbnail.count).bigEndian(4)))
        var block: [UInt8] = [0x4d, 0x4d, 0, 42] + 8.bigEndian(4) + first.count.bigEndian(2)
        block += Array(first.joined()) + second.bigEndian(4) + count.bigEndian(2)
        block += Array(entries.joined()) + 0.bigEndian(4)
        return block + thumbnail
    }

    /// A file with one more segment at its beginning.
    private func segment(_ marker: UInt8, _ body: [UInt8], in jpeg: [UInt8]) -> [UInt8] {
        let start: [UInt8] = [0xff, 0xd8, 0xff, marker] + (body.count + 2).bigEndian(2)
        return start + body + Array(jpeg.dropFirst(2))
    }

    private func file(_ picture: [UInt8], exif: [UInt8]) -> [UInt8] {
        segment(0xe1, Array("Exif\0\0".utf8) + exif, in: picture)
    }

    private func file(
        _ size: (Int, Int) = (400, 300), thumbnail: (Int, Int) = (160, 120), main: Int? = nil, own: Int? = nil
    ) async throws -> [UInt8] {
        let small = try await jpeg(thumbnail.0, thumbnail.1, colors.thumbnail)
        return file(
            try await jpeg(size.0, size.1, colors.picture), exif: exif(small, main: main, own: own))
    }

    /// Whether a pixel of an image is the thumbnail's, by its lower right corner.
    private func isThumbnail(_ image: DecodedImage) -> Bool {
        let pixel = image.pixel(image.width - 2, image.height - 2)
        return pixel[0] > pixel[2]
    }

    @Test("If it is large enough, and only under the quality that asks for speed")
    func largeEnough() async throws {
        let bytes = try await file()
        for side in [160, 100, 16] {
            let image = try await SampleImage.decode(bytes, maxPixelSize: PixelSize(square: side), with: fast)
            #expect(isThumbnail(image), "\(side)")
            #expect(image.size == PixelSize(width: 400, height: 300).fitted(into: PixelSize(square: side)))
            #expect(image.nativeSize == PixelSize(width: 400, height: 300))
        }
        #expect(!isThumbnail(try await SampleImage.decode(bytes, maxPixelSize: 161, with: fast)))
        #expect(!isThumbnail(try await SampleImage.decode(bytes, with: fast)))
        #expect(!isThumbnail(try await SampleImage.decode(bytes, maxPixelSize: 100)))
        #expect(fast.signature != Decode().signature)
    }

    @Test(
        "If it is of the picture's proportions and no larger",
        arguments: [(160, 160), (160, 107), (120, 160), (800, 600)])
    func otherShape(_ size: (Int, Int)) async throws {
        let bytes = try await file(thumbnail: size)
        #expect(!isThumbnail(try await SampleImage.decode(bytes, maxPixelSize: 100, with: fast)))
        // 3 to 2 has no whole number of pixels at 160.
        let rounded = try await file((600, 400), thumbnail: (160, 107))
        #expect(isThumbnail(try await SampleImage.decode(rounded, maxPixelSize: 100, with: fast)))
    }

    @Test("It lies as its picture does, unless it says otherwise", arguments: [1, 3, 6, 8], [nil, 1, 3, 6])
    func orientation(_ main: Int, _ own: Int?) async throws {
        let bytes = try await file((300, 300), thumbnail: (150, 150), main: main, own: own)
        let image = try await SampleImage.decode(bytes, maxPixelSize: 100, with: fast)
        // Where the white quarter lies once it is turned.
        let corner = [1: (10, 10), 3: (89, 89), 6: (89, 10), 8: (10, 89)]
        let (x, y) = try #require(corner[own ?? main])
        #expect(image.pixel(x, y)[2] > 200)
        #expect(image.pixel(99 - x, 99 - y)[2] < 100)
        #expect(image.pixel(99 - x, 99 - y)[0] > 150)
    }

    @Test("It is turned with its picture, and has to fit it upright")
    func turned() async throws {
        let bytes = try await file(main: 6)
        let image = try await SampleImage.decode(bytes, maxPixelSize: 120, with: fast)
        #expect(image.size == PixelSize(width: 90, height: 120))
        #expect(image.nativeSize == PixelSize(width: 300, height: 400))
        #expect(image.pixel(2, 117)[0] > image.pixel(2, 117)[2])
        // It lies upright already, and its picture doesn't.
        let upright = try await file(thumbnail: (120, 160), main: 6, own: 1)
        let other = try await SampleImage.decode(upright, maxPixelSize: 120, with: fast)
        #expect(other.size == PixelSize(width: 90, height: 120))
        #expect(isThumbnail(other))
    }

    @Test("A file that is cut off stays an error, and a damaged thumbnail costs nothing")
    func damage() async throws {
        let bytes = try await file()
        let cut = Array(bytes.dropLast(300))
        let error = try await #require(throws: LoadError.self) {
            try await SampleImage.decode(cut, maxPixelSize: 100, with: fast)
        }
        #expect(error.code == .undecodable)
        let picture = try await jpeg(400, 300, colors.picture)
        let small = try await jpeg(160, 120, colors.thumbnail)
        for thumbnail in [Array(small.dropLast(300)), [], [0xff, 0xd8], Array(repeating: 0xff, count: 500)] {
            let file = file(picture, exif: exif(thumbnail, main: nil, own: nil))
            #expect(!isThumbnail(try await SampleImage.decode(file, maxPixelSize: 100, with: fast)))
        }
        let beyond = file(picture, exif: exif(small, main: nil, own: nil, length: 1 << 31))
        #expect(!isThumbnail(try await SampleImage.decode(beyond, maxPixelSize: 100, with: fast)))
    }

    @Test("Its colours are those of its own profile, or else of its picture's")
    func profile() async throws {
        let plain = try await jpeg(160, 120, colors.thumbnail)
        let wide = try Pictures.bytes("good/jpeg-icc-display-p3.jpg")
        let profile = try JPEGSegments(wide[...], WorkCancellation()).metadata.profile
        func tagged(_ jpeg: [UInt8]) -> [UInt8] {
            segment(0xe2, Array("ICC_PROFILE\0".utf8) + [1, 1] + profile, in: jpeg)
        }
        let picture = try await jpeg(400, 300, colors.picture)
        func red(_ picture: [UInt8], _ thumbnail: [UInt8]) async throws -> Int {
            let file = file(picture, exif: exif(thumbnail, main: nil, own: nil))
            let image = try await SampleImage.decode(file, maxPixelSize: 100, with: fast)
            return image.pixel(image.width - 2, image.height - 2)[0]
        }
        let untagged = try await red(picture, plain)
        let own = try await red(picture, tagged(plain))
        #expect(own > untagged + 8)
        #expect(try await red(tagged(picture), plain) == own)
        #expect(try await red(tagged(picture), tagged(plain)) == own)
    }
}

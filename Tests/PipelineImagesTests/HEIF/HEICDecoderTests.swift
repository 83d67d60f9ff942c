import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("HEIC is decoded tile by tile, and stops when nobody waits", .timeLimit(.minutes(5)))
struct HEICDecoderTests {
    /// 3 by 3 tiles of 128 pixels, a little cropped.
    private func tiled() throws -> HEIFFixture {
        HEIFFixture.grid(of: try .hevc(), columns: 3, rows: 3, size: PixelSize(width: 380, height: 370))
    }

    @Test("A grid has the pixels of its tiles")
    func grid() async throws {
        let single = try await SampleImage.decode(try Pictures.bytes("good/heic-128.heif"))
        let image = try await SampleImage.decode(try tiled().bytes)
        #expect(image.size == PixelSize(width: 380, height: 370))
        for (row, column) in [(0, 0), (0, 1), (1, 2), (2, 1)] {
            for y in [0, 50, 110] {
                let width = min(128, 380 - 128 * column)
                let start = ((128 * row + y) * 380 + 128 * column) * 3
                let expected = single.pixels[y * 128 * 3..<(y * 128 + width) * 3]
                #expect(image.pixels[start..<start + width * 3].elementsEqual(expected), "\(row), \(column), \(y)")
            }
        }
        let header = try HEICDecoder().header(of: tiled().bytes, cancellation: WorkCancellation())
        #expect(header.frames == 1)
    }

    @Test("Transparency that is coded next to it is shown, and taken out of colours that are multiplied by it")
    func transparency() async throws {
        var fixture = HEIFFixture()
        let coded = try CodedPicture.hevc()
        fixture.picture(coded)
        let kind = fixture.property("auxC", 0.bigEndian(4) + Array("urn:mpeg:hevc:2015:auxid:1\0".utf8))
        let alpha = fixture.picture(coded, properties: [kind], isHidden: true)
        fixture.refer("auxl", from: alpha, to: [1])
        let colors = try await SampleImage.decode(try Pictures.bytes("good/heic-128.heif"))
        let image = try await SampleImage.decode(fixture.bytes)
        #expect(image.layout == .rgba)
        for pixel in stride(from: 0, to: 128 * 128, by: 97) {
            let (found, expected) = (image.pixels[4 * pixel..<4 * pixel + 3], colors.pixels[3 * pixel..<3 * pixel + 3])
            #expect(found.elementsEqual(expected))
        }
        fixture.refer("prem", from: 1, to: [alpha])
        let divided = try await SampleImage.decode(fixture.bytes)
        for pixel in stride(from: 0, to: 128 * 128, by: 97) {
            let level = Int(divided.pixels[4 * pixel + 3])
            guard level > 0 else { continue }
            for channel in 0..<3 {
                let expected = min(255, Int(colors.pixels[3 * pixel + channel]) * 255 / level)
                let distance = abs(Int(divided.pixels[4 * pixel + channel]) - expected)
                #expect(distance <= 1)
            }
        }
    }

    @Test("A decode that is told to stop ends without harm, wherever it is", arguments: [true, false])
    func stops(_ isHEVC: Bool) async throws {
        let bytes = try isHEVC ? tiled().bytes : Pictures.bytes("good/avif-photo.avif")
        let format: ImageFormat = isHEVC ? .heic : .avif
        let decoder = try #require(ImageCodecs.standard.codec(for: format)?.decoder)
        let header = try decoder.header(of: bytes, cancellation: WorkCancellation())
        func looks(patience: Int, _ box: PixelSize?) throws -> Int {
            try ImpatientClock.looks(patience: patience) { cancellation in
                _ = try decoder.decode(
                    bytes, header: header, box: box, options: DecodeOptions(), cancellation: cancellation)
            }.looks
        }
        for box in [nil, PixelSize(square: 50)] {
            let all = try looks(patience: .max, box)
            #expect(all > 5)
            for patience in stride(from: 1, to: all, by: max(1, all / 40)) {
                #expect(try looks(patience: patience, box) <= patience + 5)
            }
        }
    }

    @Test("The header and the metadata can be stopped as well")
    func stopsHeader() throws {
        let bytes = try tiled().bytes
        for patience in 1..<12 {
            _ = try ImpatientClock.looks(patience: patience) {
                _ = try HEICDecoder().header(of: bytes, cancellation: $0)
            }
        }
    }

    @Test("A thumbnail in the file is used where speed counts, if it is large enough and of the same shape")
    func thumbnail() async throws {
        let coded = try CodedPicture.hevc()
        var fixture = HEIFFixture.grid(of: coded, columns: 3, rows: 3, size: PixelSize(width: 384, height: 384))
        // It lies the other way round, to be told apart.
        let turn = fixture.property("irot", [2])
        let thumbnail = fixture.picture(coded, properties: [turn])
        fixture.refer("thmb", from: thumbnail, to: [1])
        let turned = try await SampleImage.decode(try Pictures.bytes("good/heic-128.heif"))
            .turned(by: .down)
        let fast = Decode(quality: .fast)
        let small = try await SampleImage.decode(fixture.bytes, maxPixelSize: 128, with: fast)
        #expect(small.pixels == turned.pixels)
        #expect(small.nativeSize == PixelSize(square: 384))
        // Too large a wish, the default quality, and another shape take the picture itself.
        let whole = try await SampleImage.decode(fixture.bytes, maxPixelSize: 129, with: fast)
        #expect(whole.size == PixelSize(square: 129))
        #expect(try await SampleImage.decode(fixture.bytes, maxPixelSize: 128).pixels != turned.pixels)
        var other = HEIFFixture.grid(of: coded, columns: 3, rows: 3, size: PixelSize(width: 384, height: 300))
        let wrong = other.picture(coded)
        other.refer("thmb", from: wrong, to: [1])
        #expect(try await SampleImage.decode(other.bytes, maxPixelSize: 100, with: fast).height == 78)
    }

    @Test("EXIF is found though its offset counts from elsewhere, and belongs to the picture")
    func exif() async throws {
        let source = try Pictures.bytes("good/jpeg-exif-xmp-icc.jpg")
        let exif = try JPEGSegments(source[...], WorkCancellation()).metadata.exif
        let camera = try #require(EXIFBlock(exif)?.camera)
        let name = Array("Exif\0\0".utf8)
        for start in [[0, 0, 0, 0], [0, 0, 0, 6] + name, name, [0, 0, 0, 6]] as [[UInt8]] {
            var fixture = HEIFFixture.single(try .hevc())
            let item = fixture.item("Exif", start + exif)
            fixture.refer("cdsc", from: item, to: [1])
            #expect(try await ImageMetadata(of: fixture.bytes).camera == camera)
        }
    }

    @Test("XMP and a profile are found, the profile of the tiles where the grid has none")
    func blocks() async throws {
        let xmp = Array("<x:xmpmeta/>".utf8)
        var fixture = try tiled()
        fixture.item("mime", xmp, contentType: "application/rdf+xml")
        let profile = fixture.property("colr", Array("prof".utf8) + ICCProfile.sRGB)
        fixture.items[1].properties.append(profile)
        let metadata = try await ImageMetadata(of: fixture.bytes)
        #expect(metadata.xmpByteCount == xmp.count)
        #expect(metadata.profile?.byteCount == ICCProfile.sRGB.count)
    }

    @Test("What a damaged bitstream leaves out shows zeros, not what the memory held before")
    func hole() throws {
        var bytes = try Pictures.bytes("good/heic-128.heif")
        // From the middle of the slice to its end.
        for index in 570..<bytes.count { bytes[index] = 0xff }
        let decoder = HEICDecoder()
        let cancellation = WorkCancellation()
        let header = try decoder.header(of: bytes, cancellation: cancellation)
        let pictures = try [UInt8(0x11), 0xaa].map { fill in
            // Freed at once, so that room of many sizes begins with these bytes.
            for size in stride(from: 1000, to: 200_000, by: 777) {
                let blocks = (0..<8).map { _ in [UInt8](repeating: fill, count: size) }
                #expect(blocks.count == 8)
            }
            let image = try decoder.decode(
                bytes, header: header, box: nil, options: DecodeOptions(), cancellation: cancellation)
            return image.pixels
        }
        #expect(pictures[0] == pictures[1])
        #expect(Array(pictures[0].suffix(3)) == [0, 135, 0])
    }
}

extension DecodedImage {
    fileprivate func turned(by orientation: ImageOrientation) throws -> DecodedImage {
        DecodedImage(
            size: orientation.applied(to: size), layout: layout,
            pixels: try orientation.applied(to: pixels, size: size, channels: layout.channelCount))
    }
}

import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("A TIFF that is one JPEG is decoded as it")
struct TIFFDecoderTests {
    /// A TIFF with a JPEG as its one strip. `tables` are cut out of it and stand in a tag of their own.
    private func file(_ jpeg: [UInt8], size: PixelSize, samples: Int, orientation: Int = 1, tables: [UInt8] = [])
        -> [UInt8]
    {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var values: [(tag: Int, type: Int, count: Int, value: [UInt8])] = [
            (256, 4, 1, number(size.width, 4)), (257, 4, 1, number(size.height, 4)), (258, 3, 1, number(8, 4)),
            (259, 3, 1, number(7, 4)), (262, 3, 1, number(samples == 3 ? 6 : 1, 4)),
            (274, 3, 1, number(orientation, 4)),
            (277, 3, 1, number(samples, 4)), (278, 4, 1, number(size.height, 4)), (279, 4, 1, number(jpeg.count, 4)),
            (530, 3, 2, number(1, 2) + number(1, 2)),
        ]
        let start = 8 + 2 + 12 * (values.count + 1 + (tables.isEmpty ? 0 : 1)) + 4
        values.append((273, 4, 1, number(start, 4)))
        if !tables.isEmpty { values.append((347, 7, tables.count, number(start + jpeg.count, 4))) }
        var file: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0] + number(values.count, 2)
        for entry in values.sorted(by: { $0.tag < $1.tag }) {
            file += number(entry.tag, 2) + number(entry.type, 2) + number(entry.count, 4) + entry.value
        }
        return file + number(0, 4) + jpeg + tables
    }

    @Test(
        "It has the JPEG's pixels, at any size, upright once",
        arguments: ["jpeg-greyscale.jpg", "jpeg-progressive-444.jpg"])
    func pixels(_ name: String) async throws {
        let jpeg = try Pictures.bytes("good/\(name)")
        for box in [nil, PixelSize(square: 40)] {
            let expected = try await SampleImage.decode(jpeg, maxPixelSize: box)
            let samples = expected.layout.channelCount
            let tiff = file(jpeg, size: expected.nativeSize, samples: samples)
            #expect(TIFFStrip(tiff)?.jpeg == jpeg)
            let image = try await SampleImage.decode(tiff, maxPixelSize: box)
            #expect(image.layout == expected.layout)
            #expect(image.pixels == expected.pixels)
            let turned = try await SampleImage.decode(
                file(jpeg, size: expected.nativeSize, samples: samples, orientation: 6), maxPixelSize: box)
            #expect(turned.size == PixelSize(width: expected.height, height: expected.width))
            #expect(turned.pixel(turned.width - 1, 0) == expected.pixel(0, 0))
        }
    }

    @Test("The estimate of memory counts the JPEG's coefficients, as that of the JPEG alone does")
    func memory() throws {
        let jpeg = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        let inner = try JPEGDecoder().header(of: jpeg, cancellation: WorkCancellation())
        let tiff = file(jpeg, size: inner.storedSize, samples: 3)
        let header = try TIFFDecoder().header(of: tiff, cancellation: WorkCancellation())
        // Three channels, each of 16 bits.
        #expect(header.memory >= inner.storedSize.bytes(6))
        #expect(header.memory == inner.memory)
    }

    @Test("Tables that stand elsewhere in the file come before the strip")
    func tables() throws {
        let (start, end): ([UInt8], [UInt8]) = ([0xff, 0xd8], [0xff, 0xd9])
        let tiff = file(start + [1, 2, 3], size: PixelSize(square: 1), samples: 1, tables: start + [7, 8, 9] + end)
        #expect(TIFFStrip(tiff)?.jpeg == start + [7, 8, 9] + [1, 2, 3])
    }

    @Test("Any other TIFF is no such strip, nor one that is cut off")
    func others() throws {
        #expect(TIFFStrip(try Pictures.bytes("good/tiff-jpeg-tiled.tif")) == nil)
        #expect(TIFFStrip(try Pictures.bytes("good/tiff-deflate-strip.tif")) == nil)
        let tiff = file([0xff, 0xd8, 1, 2], size: PixelSize(square: 1), samples: 3)
        #expect(TIFFStrip(tiff) != nil)
        for count in 0..<tiff.count { #expect(TIFFStrip(Array(tiff.prefix(count))) == nil) }
    }
}

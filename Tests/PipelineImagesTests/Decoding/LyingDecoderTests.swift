import Pipeline
import PipelineImages
import TestFixtures
import Testing

@Suite("A decoder whose result isn't what its header says")
struct LyingDecoderTests {
    /// Says that every file is `header` pixels large, and returns `result` pixels.
    private struct Liar: ImageDecoding {
        let header: PixelSize
        let result: PixelSize
        var missingBytes = 0

        func header(of bytes: [UInt8], cancellation: WorkCancellation) -> ImageHeader {
            ImageHeader(format: .bmp, storedSize: header)
        }

        func decode(
            _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions,
            cancellation: WorkCancellation
        ) throws -> DecodedImage {
            let count = max(0, result.width * result.height - missingBytes)
            return try DecodedImage(
                validating: [UInt8](repeating: 7, count: count), size: result, layout: .gray, nativeSize: header.size)
        }
    }

    private static func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }

    private func load(_ liar: Liar, box: PixelSize? = nil) async throws -> DecodedImage? {
        let codecs = ImageCodecs.standard.adding(ImageCodec.bmp.decoding(with: liar))
        let list = ImagePipeline {
            ReadInline()
            Decode(codecs: codecs)
            Downscale()
        }
        let bytes = try Pictures.bytes("good/bmp-rgb24.bmp")
        return try await list.load(ImageRequest(.bytes(bytes), maxPixelSize: box)).image
    }

    @Test(
        "A picture smaller than both the box and the header is refused, and one larger than the header",
        arguments: [
            (size(100, 50), size(10, 10), nil), (size(100, 50), size(100, 49), nil),
            (size(100, 50), size(30, 15), size(40, 40)), (size(100, 50), size(101, 50), size(40, 40)),
            (size(100, 50), size(50, 100), nil),
        ] as [(PixelSize, PixelSize, PixelSize?)])
    func sizes(_ header: PixelSize, _ result: PixelSize, _ box: PixelSize?) async throws {
        let error = try await #require(throws: LoadError.self) {
            try await load(Liar(header: header, result: result), box: box)
        }
        #expect(error.code == .stageContract)
        let words = ["Liar", "\(header)", "\(result)"] + (box.map { ["box of \($0)"] } ?? ["no box"])
        for word in words { #expect(error.message.contains(word)) }
    }

    @Test(
        "A picture between the box and the header is made to fit",
        arguments: [
            PixelSize(width: 40, height: 20), PixelSize(width: 50, height: 25), PixelSize(width: 100, height: 50),
        ])
    func larger(_ result: PixelSize) async throws {
        let image = try await load(Liar(header: PixelSize(width: 100, height: 50), result: result), box: 40)
        #expect(image?.size == PixelSize(width: 40, height: 20))
    }

    @Test("Too few pixels are an error of the load")
    func pixels() async throws {
        let error = try await #require(throws: LoadError.self) {
            try await load(Liar(header: 100, result: 100, missingBytes: 1))
        }
        #expect(error.code == .undecodable)
        #expect(error.message.contains("100×100") && error.message.contains("9999"))
    }

    @Test(
        "No size and no number of bytes ends the program",
        arguments: [
            PixelSize(width: .max, height: 2), PixelSize(width: .max, height: .max), PixelSize(width: -1, height: -1),
            PixelSize(width: .min, height: -1), PixelSize(width: 0, height: 5), PixelSize(width: 1 << 61, height: 2),
            PixelSize(width: 3, height: 1),
        ])
    func numbers(_ size: PixelSize) throws {
        for layout in [PixelLayout.gray, .rgb, .rgba] {
            let error = #expect(throws: LoadError.self) {
                try DecodedImage(validating: [0, 0], size: size, layout: layout)
            }
            #expect(error?.code == .undecodable)
        }
        #expect(throws: LoadError.self) {
            try DecodedImage(validating: [] as [DecodedImage.Frame], size: size, layout: .gray)
        }
        let whole = try DecodedImage(validating: [1, 2], size: PixelSize(width: 2, height: 1), layout: .gray)
        #expect(whole.nativeSize == whole.size)
    }
}

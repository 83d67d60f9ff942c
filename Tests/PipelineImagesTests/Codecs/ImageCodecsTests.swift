import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("A list of codecs")
struct ImageCodecsTests {
    /// A decoder of one grey pixel, which counts its calls.
    private struct Constant: ImageDecoding {
        let calls = Counter()

        func header(of bytes: [UInt8], cancellation: WorkCancellation) -> ImageHeader {
            calls.increment()
            return ImageHeader(format: .bmp, storedSize: 1)
        }

        func decode(
            _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions,
            cancellation: WorkCancellation
        ) -> DecodedImage { DecodedImage(size: 1, layout: .gray, pixels: [7]) }
    }

    @Test("A codec replaces that of its format, and of two that match a file the later counts")
    func adding() {
        let own = ImageCodec.png.decoding(with: Constant())
        let list = ImageCodecs.standard.adding(own)
        #expect(list.codecs.count == ImageCodecs.standard.codecs.count)
        #expect(list.codec(for: .png) === own)
        let greedy = ImageCodec(ImageFormat(rawValue: "image/x-own"), extensions: ["own"], decoder: Constant()) { _ in
            true
        }
        #expect(list.adding(greedy).codec(of: [0x89, 0x50]) === greedy)
        #expect(list.adding(greedy).codec(forExtension: "OWN") === greedy)
        #expect(ImageCodecs([.png, own]).codecs.count == 1)
    }

    @Test("A file of a format that isn't in the list is refused by its first bytes, whoever reads it")
    func refused() async throws {
        let bytes = try Pictures.bytes("good/bmp-rgb24.bmp")
        let unwanted = Constant()
        let others: ImageCodecs = [.jpeg, .png]
        let wanted = others.adding(ImageCodec.bmp.decoding(with: unwanted))
        let lists: [(ImageCodecs) -> ImagePipeline] = [
            { codecs in
                ImagePipeline {
                    ReadInline(); Decode(codecs: codecs)
                }
            },
            { codecs in
                ImagePipeline {
                    ReadInline(); CheckHeader(codecs: codecs)
                }
            },
        ]
        for list in lists {
            await #expect(throws: LoadError.self) { try await list(others).load(ImageRequest(.bytes(bytes))) }
            _ = try await list(wanted).load(ImageRequest(.bytes(bytes)))
        }
        let calls = unwanted.calls.value
        #expect(calls == 2)
        let error = await #expect(throws: LoadError.self) { try await ImageMetadata(of: bytes, codecs: others) }
        #expect(error?.code == .unsupportedType)
        #expect(error?.message.contains("image/bmp, which isn't enabled; accepted are image/jpeg, image/png") == true)
    }

    @Test("What an option says in a cache key stays the same, letter by letter")
    func signatures() {
        let rows: [(ImageFormat, String, (inout EncodeOptions) -> Void)] = [
            (.jpeg, "quality: 80", { _ in }),
            (
                .jpeg,
                "quality: 75, maxBytes: 9, metadata: icc, progressive: true, chroma: 4:4:4, optimizesCodes: false",
                {
                    $0 = EncodeOptions(quality: 75, maxBytes: 9, metadata: .icc)
                    $0.jpeg = .init(progressive: true, chroma: .full, optimizesCodes: false)
                }
            ),
            (.jpeg, "quality: 80, chroma: 4:2:2", { $0.jpeg.chroma = .half }),
            (
                .png, "quality: 80, compression: 9, filter: paeth, colours: 16, dither: 0.5",
                {
                    $0.png = .init(compression: 9, filter: .paeth, colors: 16, dither: 0.5)
                }
            ),
            (.webp, "quality: 80, lossless: true, effort: 6", { $0.webp = .init(lossless: true, effort: 6) }),
            (
                .avif, "quality: 80, lossless: true, effort: 9, chroma: 4:2:0",
                {
                    $0.avif = .init(lossless: true, effort: 9, chroma: .quarter)
                }
            ),
            (
                .gif, "quality: 80, colours: 64, dither: 0.0, effort: 1",
                {
                    $0.gif = .init(colors: 64, dither: 0, effort: 1)
                }
            ),
            (.tiff, "quality: 80, compression: lzw", { $0.tiff.compression = .lzw }),
            (.heic, "quality: 80", { _ in }),
        ]
        for (format, expected, change) in rows {
            var options = EncodeOptions()
            change(&options)
            #expect(Encode(format, options: options).signature == "encode(\(format), \(expected))")
        }
        let accepted = AcceptedFormats(accept: "image/webp;q=0.5, image/png")
        #expect(
            Encode(accepted).signature
                == "encode(auto: image/png, image/webp with motion; image/avif, quality: 80; image/webp, quality: 80; "
                + "image/jpeg, quality: 80; image/png, quality: 80; image/gif, quality: 80 of image/png, image/webp with motion)"
        )
    }

    @Test("Options that are set back to their defaults equal options that were never set")
    func defaults() {
        var options = EncodeOptions()
        options.webp.effort = 6
        options.png.compression = 1
        var others = EncodeOptions()
        others.png.compression = 1
        #expect(options != others)
        others.webp.effort = 6
        #expect(options == others)
        #expect(options.hashValue == others.hashValue)
        options.webp.effort = 4
        options.png = .init()
        #expect(options == EncodeOptions())
    }

    @Test("An encoder of one's own is chosen where the client names its format")
    func negotiation() {
        let own = ImageFormat(rawValue: "image/x-own")
        let codecs = ImageCodecs.standard.adding(
            ImageCodec(own, extensions: ["own"], decoder: Constant(), encoder: PNGEncoder()) { _ in false })
        #expect(AcceptedFormats(accept: "image/*", codecs: codecs).best(hasAlpha: true, isAnimated: false) == .png)
        let named = AcceptedFormats(accept: "image/x-own, image/*;q=0.8", codecs: codecs)
        #expect(named.best(hasAlpha: true, isAnimated: false) == own)
        #expect(AcceptedFormats(accept: "image/x-own").best(hasAlpha: true, isAnimated: false) == .png)
    }
}

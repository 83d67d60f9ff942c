import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@Suite("Colours stay the source's as far as a list and its result can hold them")
struct GamutTests {
    private static let formats: [ImageFormat] = [.jpeg, .png, .webp, .tiff, .avif]

    private func file(
        _ format: ImageFormat, of bytes: [UInt8], decoding decode: Decode = Decode(), gamut: Gamut? = nil,
        @ChainBuilder _ stages: () -> Chain = { Chain([]) }
    ) async throws -> (bytes: [UInt8], trace: Trace) {
        var options = EncodeOptions(quality: 100)
        options.set(SharedEncodeOptions(lossless: format != .jpeg, progressive: false, effort: nil), for: .standard)
        let chain = Chain([decode] + stages().stages + [Encode(format, options: options)])
        let list = try ImagePipeline(validating: Chain([ReadInline()] + chain.stages))
        let response = try await list.load(ImageRequest(.bytes(bytes), gamut: gamut))
        return (try #require(response.encoded?.bytes), response.trace)
    }

    private func wide() throws -> [UInt8] { try Pictures.bytes("good/jpeg-icc-display-p3.jpg") }

    private func difference(_ one: DecodedImage, _ other: DecodedImage) throws -> (most: Int, mean: Double) {
        #expect(one.size == other.size && one.layout == other.layout)
        let all = try one.withPixels { one in
            try other.withPixels { other in zip(one, other).map { abs(Int($0) - Int($1)) } }
        }
        return (all.max() ?? 0, Double(all.reduce(0, +)) / Double(all.count))
    }

    @Test("Display P3 stays Display P3 through work that only moves and scales pixels", arguments: formats)
    func kept(_ format: ImageFormat) async throws {
        let (bytes, trace) = try await file(format, of: try wide()) {
            Crop(aspect: 1)
            Resize(120)
            Flip(.horizontal)
            Sharpen(0.2)
        }
        #expect(trace.description.contains("Display P3 kept"))
        let metadata = try await ImageMetadata(of: bytes)
        #expect(metadata.colorSpaceName == "Display P3")
        #expect(metadata.transferName == "sRGB")
        // AVIF says it in numbers, and PNG in both ways.
        #expect((metadata.profile == nil) == (format == .avif))
        #expect((metadata.codedColors != nil) == [.avif, .png].contains(format))
        #expect((metadata.profile?.byteCount ?? 0) < 600)
        // The same picture by way of sRGB, which clips what it lacks.
        let mapped = try await file(.png, of: try wide(), gamut: .sRGB) {
            Crop(aspect: 1)
            Resize(120)
            Flip(.horizontal)
            Sharpen(0.2)
        }
        let found = try difference(
            try await SampleImage.decode(bytes), try await SampleImage.decode(mapped.bytes))
        #expect(found.mean < 2.5)
    }

    @Test("No number changes where none has to", arguments: [ImageFormat.png, .webp, .tiff])
    func numbers(_ format: ImageFormat) async throws {
        let source = try await SampleImage.decode(try wide(), with: Decode(gamut: .source))
        #expect(source.layout.colorSpace == .displayP3)
        let (bytes, _) = try await file(format, of: try wide())
        let again = try await SampleImage.decode(bytes, with: Decode(gamut: .source))
        #expect(again.layout == source.layout)
        #expect(again.frames[0].bytes == source.frames[0].bytes)
    }

    @Test("Adobe RGB, and BT.2020 with any curve, are kept too")
    func others() async throws {
        let (rec, _) = try await file(.png, of: try Pictures.bytes("good/png-icc-rec2020.png"))
        #expect(try await ImageMetadata(of: rec).colorSpaceName == "BT.2020")
        let reference = try await SampleImage.decode(try Pictures.bytes("good/png-icc-rec2020.png"))
        #expect(try difference(try await SampleImage.decode(rec), reference).mean < 0.7)
        for space in [PixelLayout.ColorSpace.adobeRGB, .bt2020, .displayP3] {
            let layout = PixelLayout(channelCount: 3, hasAlpha: false, colorSpace: space)
            var pixels: [UInt8] = []
            for index in 0..<64 * 64 { pixels += [UInt8(index % 64 * 4), UInt8(index / 64 * 4), 128] }
            let image = DecodedImage(size: PixelSize(square: 64), layout: layout, pixels: pixels)
            for format in Self.formats.dropFirst() {
                var options = EncodeOptions()
                options.set(SharedEncodeOptions(lossless: true, progressive: false, effort: nil), for: .standard)
                let chosen = options
                let made = try await SampleImage.process(image) { Encode(format, options: chosen) }
                let bytes = try #require(made.encoded?.bytes)
                let again = try await SampleImage.decode(bytes, with: Decode(gamut: .source))
                #expect(again.layout == layout, "\(format)")
                #expect(again.relabelled == image.relabelled, "\(format)")
            }
        }
    }

    @Test(
        "The frames of an animation keep their colours", arguments: [ImageFormat.png, .webp, .avif],
        [PixelLayout.ColorSpace.displayP3, .adobeRGB])
    func animations(_ format: ImageFormat, _ space: PixelLayout.ColorSpace) async throws {
        let layout = PixelLayout(channelCount: 3, hasAlpha: false, colorSpace: space)
        let frames = (0..<3).map { index in
            DecodedImage.Frame(
                pixels: (0..<32 * 32).flatMap { [UInt8($0 % 256), UInt8(60 * index), 200] }, delay: .milliseconds(100))
        }
        let image = DecodedImage(size: PixelSize(square: 32), layout: layout, frames: frames)
        var options = EncodeOptions()
        options.set(SharedEncodeOptions(lossless: true, progressive: false, effort: nil), for: .standard)
        let chosen = options
        let made = try await SampleImage.process(image) { Encode(format, options: chosen) }
        let bytes = try #require(made.encoded?.bytes)
        let again = try await SampleImage.decode(
            bytes, with: Decode(limits: ImageLimits(frames: 3), gamut: .source))
        #expect(again.layout.colorSpace == space && again.frames.count == 3)
        for (one, other) in zip(again.frames, image.frames) {
            let step = again.layout.channelCount
            let numbers = one.bytes.indices.filter { $0 % step < 3 }.map { one.bytes[$0] }
            #expect(numbers == other.bytes)
        }
    }

    @Test("A stage that works in sRGB gets it, and so does a program's own")
    func converted() async throws {
        let reference = try await file(.png, of: try wide(), gamut: .sRGB)
        for stage in [
            Adjust(saturation: 1.5) as any Stage,
            ClosureTransform("Look", signature: "1") { image in
                _ = try image.withPixels { $0.count }
                return image
            },
        ] {
            let (bytes, trace) = try await file(.png, of: try wide()) { stage }
            #expect(!trace.description.contains("kept"))
            let metadata = try await ImageMetadata(of: bytes)
            #expect(metadata.colorSpaceName == "sRGB" && metadata.profile == nil && metadata.codedColors == nil)
        }
        #expect(try await ImageMetadata(of: reference.bytes).profile == nil)
    }

    @Test("Pixels for a program are sRGB's unless it asks for the source's")
    func pixels() async throws {
        let list = try ImagePipeline(
            validating: Chain {
                ReadInline()
                Decode()
                Downscale()
            })
        let request = ImageRequest(.bytes(try wide()), maxPixelSize: 100)
        #expect(try await list.load(request).image?.layout == .rgb)
        var own = request
        own.gamut = .source
        #expect(try await list.load(own).image?.layout.colorSpace == .displayP3)
        #expect(try await SampleImage.decode(try wide(), with: Decode(gamut: .source)).layout.colorSpace == .displayP3)
        own.gamut = .sRGB
        let asked = try await SampleImage.load(try wide()) { Decode(gamut: .source) }.image
        #expect(asked?.layout.colorSpace == .displayP3)
        #expect(try await list.load(own).image == list.load(request).image)
    }

    @Test("A format that can't say which colours it holds gets sRGB", arguments: [ImageFormat.gif])
    func withoutProfile(_ format: ImageFormat) async throws {
        let kept = try await file(format, of: try wide())
        let mapped = try await file(format, of: try wide(), gamut: .sRGB)
        #expect(kept.bytes == mapped.bytes)
        // The format is only chosen once there are pixels.
        let image = try await SampleImage.decode(try wide(), maxPixelSize: 64, with: Decode(gamut: .source))
        let made = try await SampleImage.process(image) { Encode(format) }
        let reference = try await SampleImage.process(
            try await SampleImage.decode(try wide(), maxPixelSize: 64)
        ) { Encode(format) }
        let pair = (try #require(made.encoded?.bytes), try #require(reference.encoded?.bytes))
        #expect(
            try difference(try await SampleImage.decode(pair.0), try await SampleImage.decode(pair.1)).mean < 3)
    }

    @Test("Metadata that is kept has the profile of the pixels")
    func metadata() async throws {
        for kept in KeptMetadata.allCases {
            let made = try await SampleImage.load(try wide()) {
                Decode()
                Encode(.jpeg, options: EncodeOptions(metadata: kept))
            }
            let bytes = try #require(made.encoded?.bytes)
            #expect(try await ImageMetadata(of: bytes).colorSpaceName == "Display P3", "\(kept)")
        }
    }

    @Test("Results in other colours are other entries in caches")
    func keys() {
        let source = SourceKey(digest: BLAKE2bDigest(of: "source"))
        let list = BLAKE2bDigest(of: "list")
        let keys = [nil, Gamut.sRGB, .source].map {
            VariantKey(source: source, request: ImageRequest(.bytes([]), gamut: $0), list: list)
        }
        #expect(Set(keys).count == 3 && Set(keys.map(\.digest)).count == 3)
        #expect(Decode(gamut: .source).signature != Decode().signature)
        #expect(Decode(gamut: .sRGB).signature != Decode(gamut: .source).signature)
    }
}

extension DecodedImage {
    /// The numbers as if they were sRGB's, to read them.
    fileprivate var relabelled: DecodedImage {
        DecodedImage(size: size, layout: layout.hasAlpha ? .rgba : .rgb, frames: frames)
    }
}

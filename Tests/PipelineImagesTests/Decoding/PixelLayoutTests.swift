import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@Suite("Pixels are read as 8-bit sRGB only where they are")
struct PixelLayoutTests {
    /// Layouts that no stage makes or reads yet.
    static let unknown = [
        PixelLayout(channelCount: 4, hasAlpha: true, sampleType: PixelLayout.SampleType(rawValue: 24)),
        PixelLayout(channelCount: 4, hasAlpha: true, sampleType: PixelLayout.SampleType(rawValue: -32)),
        PixelLayout(channelCount: 2, hasAlpha: true), PixelLayout(channelCount: 5, hasAlpha: true),
        PixelLayout(channelCount: 4, hasAlpha: false),
    ]

    /// Every stage that reads pixels.
    static let readers: [any Stage] =
        TransformTests.all as [any Stage] + [
            Downscale(), Encode(.png, options: indexed), Encode(AcceptedFormats(accept: "image/webp")),
            ClosureTransform("Copy", signature: "1") { image in
                DecodedImage(size: image.size, layout: .rgba, pixels: try image.withPixels { Array($0) })
            },
        ] + [ImageFormat.jpeg, .png, .webp, .avif, .gif, .tiff].map { Encode($0) }

    private static var indexed: EncodeOptions {
        var options = EncodeOptions()
        options.png.colors = 16
        return options
    }

    private func image(_ layout: PixelLayout, frames: Int = 1) -> DecodedImage {
        let size = PixelSize(width: 61, height: 43)
        let frames = (0..<frames).map { frame in
            DecodedImage.Frame(
                pixels: (0..<size.width * size.height * layout.bytesPerPixel).map {
                    UInt8(truncatingIfNeeded: $0 * 7 + frame)
                }, delay: .milliseconds(20))
        }
        return DecodedImage(size: size, layout: layout, frames: frames)
    }

    @Test("A layout knows its size and its name")
    func layouts() {
        let known = [PixelLayout.gray, .rgb, .rgba]
        #expect(known.map(\.bytesPerPixel) == [1, 3, 4])
        #expect(known.map(\.hasAlpha) == [false, false, true])
        // Part of keys under which results are stored.
        #expect(known.map(\.description) == ["grey", "rgb", "rgba"])
        #expect(Self.unknown.map(\.channelCount) == [4, 4, 2, 5, 4])
        #expect(Self.unknown.map(\.bytesPerPixel) == [12, 16, 2, 5, 4])
        #expect(Self.unknown[0].description == "4 channels with alpha, sample type 24, colour space 1/13")
        #expect(image(Self.unknown[0]).byteCount == 61 * 43 * 12)
    }

    @Test("withPixels gives the bytes of each frame", arguments: [PixelLayout.gray, .rgb, .rgba])
    func frames(_ layout: PixelLayout) throws {
        let image = image(layout, frames: 3)
        for (index, frame) in image.frames.enumerated() {
            #expect(try image.withPixels(ofFrame: index) { Array($0) } == frame.bytes)
        }
        #expect(try image.withPixels { $0.first } == image.frames[0].bytes.first)
    }

    @Test("Every transform and every encoder refuses another layout", arguments: readers.indices, unknown)
    func refusal(_ index: Int, _ layout: PixelLayout) async throws {
        let stage = Self.readers[index]
        for frames in [1, 2] {
            let error = await failure(.unsupportedLayout) {
                try await SampleImage.process(image(layout, frames: frames), maxPixelSize: 20) { stage }
            }
            #expect(error?.stage == stage.name)
            #expect(error?.subject.isEmpty == false)
            #expect(error?.message.contains("\(layout)") == true)
        }
    }

    @Test(
        "A stage that keeps colours takes pixels of another colour space; any other refuses them",
        arguments: readers.indices)
    func colors(_ index: Int) async throws {
        let stage = Self.readers[index]
        let p3 = PixelLayout(channelCount: 4, hasAlpha: true, colorSpace: .displayP3)
        guard (stage as? any ColorKeeping)?.keepsColors == true || stage is Encode else {
            _ = await failure(.unsupportedLayout) {
                try await SampleImage.process(image(p3), maxPixelSize: 20) { stage }
            }
            return
        }
        let response = try await SampleImage.process(image(p3), maxPixelSize: 20) { stage }
        guard let made = response.image else { return }
        #expect(made.layout.colorSpace == .displayP3)
        // An overlay's numbers become those of the picture's space.
        if stage is Composite { return }
        let numbers = try await SampleImage.process(image(.rgba), maxPixelSize: 20) { stage }
        #expect(made.frames == numbers.image?.frames)
    }

    @Test("A stage that keeps depth takes 16 bits a channel; any other refuses them", arguments: readers.indices)
    func depth(_ index: Int) async throws {
        let stage = Self.readers[index]
        let deep = PixelLayout(channelCount: 4, hasAlpha: true, sampleType: .uint16)
        guard (stage as? any ColorKeeping)?.keepsDepth == true || stage is Encode else {
            _ = await failure(.unsupportedLayout) {
                try await SampleImage.process(image(deep), maxPixelSize: 20) { stage }
            }
            return
        }
        let response = try await SampleImage.process(image(deep), maxPixelSize: 20) { stage }
        #expect(response.image.map { $0.layout.sampleType == .uint16 } ?? true)
    }

    @Test("A watermark of another layout is refused, and counts in the key", arguments: unknown)
    func overlay(_ layout: PixelLayout) async throws {
        let composite = Composite(image(layout))
        #expect(composite.signature?.contains("\(layout)") == true)
        _ = await failure(.unsupportedLayout) { try await composite.apply(image(.rgb)) }
    }
}

import LibC
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

/// Expected levels are calculated here, from the formulas of the standards.
@Suite("Stages draw in the colours of the picture, at its depth")
struct DrawingTests {
    private static let size = PixelSize(width: 40, height: 30)
    private static let orange = Color(red: 255, green: 128, blue: 0)
    private static let drawing: [String: Chain] = [
        "pad": Chain([Pad(top: 8, left: 8, color: orange)]),
        "contain": Chain([Resize(PixelSize(width: 40, height: 60), fit: .contain, background: orange)]),
        "rotate": Chain([Rotate(degrees: 30, background: orange)]),
        "flatten": Chain([Pad(top: 8, left: 8, color: .clear), Flatten(orange)]),
        "composite": Chain([
            Pad(top: 8, left: 8), Composite(DecodedImage(size: 1, layout: .rgb, pixels: [255, 128, 0]), tiled: true),
        ]),
    ]

    /// A picture of mid grey of some colours and depth, as a PNG.
    private static func png(_ space: PixelLayout.ColorSpace, isDeep: Bool) async throws -> [UInt8] {
        let layout = PixelLayout(
            channelCount: 3, hasAlpha: false, sampleType: isDeep ? .uint16 : .uint8, colorSpace: space)
        let pixels = [UInt8](repeating: 120, count: size.bytes(layout.bytesPerPixel))
        let made = try await SampleImage.process(DecodedImage(size: size, layout: layout, pixels: pixels)) {
            Encode(.png)
        }
        return try #require(made.encoded?.bytes)
    }

    private func kept(_ bytes: [UInt8], _ stages: Chain) async throws -> DecodedImage {
        let made = try await SampleImage.load(bytes) {
            Decode()
            stages
            Encode(.png)
        }
        #expect(!"\(made.trace)".contains("sRGB") && !"\(made.trace)".contains("8 bits"), "\(made.trace)")
        return try await SampleImage.decode(
            try #require(made.encoded?.bytes), with: Decode(gamut: .source, depth: .source))
    }

    @Test(
        "A colour looks the same in a picture of any gamut and depth, which the result keeps",
        arguments: drawing.keys.sorted(), [PixelLayout.ColorSpace.sRGB, .displayP3, .bt2020, .adobeRGB])
    func gamut(_ name: String, _ space: PixelLayout.ColorSpace) async throws {
        let stages = try #require(Self.drawing[name])
        for isDeep in [false, true] {
            let image = try await kept(try await Self.png(space, isDeep: isDeep), stages)
            #expect(image.layout.colorSpace == space && (image.layout.sampleType == .uint16) == isDeep)
            let shown = try image.reducedToBytes(WorkCancellation()).convertedToSRGB(WorkCancellation())
            let corner = try shown.withPixels { Array($0.prefix(3)).map(Int.init) }
            #expect(zip(corner, [255, 128, 0]).allSatisfy { abs($0 - $1) <= 2 }, "\(name), \(space): \(corner)")
        }
    }

    @Test(
        "In HDR, white is SDR's: 203 cd/m², or 75 % of HLG", arguments: drawing.keys.sorted(),
        [(PixelLayout.ColorSpace.bt2100PQ, 0.5807), (.bt2100HLG, 0.75), (.init(rawValue: 256 + 8), 1)])
    func hdr(_ name: String, _ white: (PixelLayout.ColorSpace, Double)) async throws {
        let stages: [String: Chain] = [
            "pad": Chain([Pad(top: 8, left: 8, color: .white)]),
            "contain": Chain([Resize(PixelSize(width: 40, height: 60), fit: .contain, background: .white)]),
            "rotate": Chain([Rotate(degrees: 30, background: .white)]),
            "flatten": Chain([Pad(top: 8, left: 8, color: .clear), Flatten(.white)]),
            "composite": Chain([
                Composite(DecodedImage(size: 1, layout: .gray, pixels: [255]), gravity: .northWest)
            ]),
        ]
        let image = try await kept(try await Self.png(white.0, isDeep: true), try #require(stages[name]))
        #expect(image.layout.colorSpace == white.0 && image.layout.sampleType == .uint16)
        let corner = image.samples.prefix(3).map { Double($0) / 65535 }
        // A colour has 8 bits.
        #expect(corner.allSatisfy { abs($0 - white.1) < 0.003 }, "\(name): \(corner)")
    }

    private static let geometry: [String: Chain] = [
        "pad": Chain([Pad(top: 3, left: 2, bottom: 1, right: 5, color: Color(red: 90, green: 90, blue: 90))]),
        "contain": Chain([Resize(PixelSize(width: 30, height: 30), fit: .contain)]),
        "rotate": Chain([Rotate(degrees: 17)]),
        "turn": Chain([Rotate(degrees: -100, background: .white)]),
        "interest": Chain([Crop(PixelSize(square: 20), by: .attention)]),
        "trim": Chain([Pad(top: 3, left: 5), Trim()]),
        "corners": Chain([RoundCorners(radius: 9)]),
        "circle": Chain([CropCircle()]),
        "overlay": Chain([
            Composite(DecodedImage(size: 4, layout: .rgb, pixels: [UInt8](repeating: 77, count: 48)), offset: (-3, -2))
        ]),
    ]

    @Test("Geometry makes of 16 bits what it makes of 8, more finely", arguments: geometry.keys.sorted(), [1, 3, 4])
    func depth(_ name: String, _ channels: Int) async throws {
        let stages = try #require(Self.geometry[name])
        let image = DeepPicture.gradients(Self.size, channels: channels)
        let deep = try #require(try await SampleImage.process(image) { stages }.image)
        #expect(deep.layout.sampleType == .uint16)
        let flat = try #require(
            try await SampleImage.process(image.reducedToBytes(WorkCancellation())) { stages }.image)
        #expect(deep.size == flat.size && deep.layout == flat.layout.with(.uint16))
        let reduced = try deep.reducedToBytes(WorkCancellation())
        let alpha = reduced.layout.hasAlpha
        let levels = zip(reduced.frames[0].bytes, flat.frames[0].bytes).enumerated().filter { place, _ in
            // Colours of almost transparent pixels are coarse in 8 bits.
            !alpha || place % 4 == 3 || flat.frames[0].bytes[place / 4 * 4 + 3] > 100
        }
        #expect(levels.allSatisfy { abs(Int($0.element.0) - Int($0.element.1)) <= 2 })
        #expect(Set(deep.samples).count > Set(flat.frames[0].bytes).count)
    }

    @Test("16 bits are mixed by their light, and 8 by their levels")
    func blending() async throws {
        let black = [UInt8](repeating: 0, count: 6)
        let overlay = DecodedImage(size: 1, layout: .rgba, pixels: [255, 255, 255, 128])
        let deep = DecodedImage(size: 1, layout: PixelLayout.rgb.with(.uint16), pixels: black)
        let flat = DecodedImage(size: 1, layout: .rgb, pixels: Array(black.prefix(3)))
        let light = 128.0 / 255
        let level = 1.055 * pow(light, 1 / 2.4) - 0.055
        let mixed = try await Composite(overlay).apply(deep)
        #expect(mixed.samples.allSatisfy { abs(Double($0) / 65535 - level) < 0.0001 })
        #expect(try await Composite(overlay).apply(flat).frames[0].bytes == [128, 128, 128])
        let clear: [UInt16] = [65535, 0, 0, 32768]
        let half = DecodedImage(
            size: 1, layout: PixelLayout.rgba.with(.uint16), pixels: clear.withUnsafeBytes { Array($0) })
        let flattened = try await Flatten(.black).apply(half)
        #expect(abs(Double(flattened.samples[0]) / 65535 - (1.055 * pow(0.5, 1 / 2.4) - 0.055)) < 0.0001)
        // Over what is half transparent, alpha adds up as in any other depth.
        let over = try await Composite(overlay).apply(half)
        #expect(abs(Double(over.samples[3]) / 65535 - (light + (1 - light) / 2)) < 0.0001)
        let fully = try await Composite(overlay, opacity: 0).apply(half)
        #expect(fully == half)
    }

    @Test("A border of a colour is found in any gamut and depth")
    func trim() async throws {
        for space in [PixelLayout.ColorSpace.displayP3, .adobeRGB] {
            for isDeep in [false, true] {
                let list = Chain([Pad(top: 8, left: 8, color: Self.orange), Trim(tolerance: 2, color: Self.orange)])
                #expect(try await kept(try await Self.png(space, isDeep: isDeep), list).size == Self.size)
            }
        }
    }
}

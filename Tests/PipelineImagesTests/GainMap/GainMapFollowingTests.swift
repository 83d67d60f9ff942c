import LibC
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("A gain map follows its picture")
struct GainMapFollowingTests {
    static let parameters = try? GainMapParameters(
        checking: [
            .init(minimum: -0.3, maximum: 2.7, gamma: 1.25, baseOffset: 1 / 64, alternateOffset: 1 / 128)
        ], base: 0, alternate: 2.5, usesBaseColorSpace: true)

    /// Smooth levels at a place, in shares of the sides.
    private static func level(_ x: Double, _ y: Double) -> UInt8 {
        UInt8(120 + 55 * sin(9 * x + 2 * y) + 50 * cos(7 * y - 1))
    }

    static func levels(_ size: PixelSize) -> [UInt8] {
        (0..<size.height).flatMap { y in
            (0..<size.width).map { x in
                level((Double(x) + 0.5) / Double(size.width), (Double(y) + 0.5) / Double(size.height))
            }
        }
    }

    /// A grey JPEG whose map has at each place the picture's own level.
    private static func file(_ size: PixelSize, map: PixelSize, quality: Int = 95) async throws -> [UInt8] {
        var image = DecodedImage(size: size, layout: .gray, pixels: levels(size))
        image.gainMap = GainMap(
            levels(map), size: map, channelCount: 1, try #require(parameters), stored: map, of: size)
        return try await SampleImage.process(image) { Encode(.jpeg, quality: quality) }.encoded?.bytes ?? []
    }

    /// The mean difference of the levels of a picture and of its map at the same places.
    static func difference(_ image: DecodedImage) throws -> Double {
        let map = try #require(image.gainMap)
        let levels = stride(from: 0, to: map.pixels.count, by: map.channelCount).map { map.pixels[$0] }
        let whole = DecodedImage(size: map.size, layout: .gray, pixels: levels)
        let fitted = try whole.resampled(to: image.size, WorkCancellation())
        let channels = image.layout.channelCount
        let all = try image.withPixels { one in
            try fitted.withPixels { other in
                other.indices.map { abs(Int(one[$0 * channels]) - Int(other[$0])) }
            }
        }
        return Double(all.reduce(0, +)) / Double(all.count)
    }

    private func kept(_ bytes: [UInt8]) async throws -> DecodedImage {
        try #require(try await SampleImage.load(bytes) { Decode(gainMap: .keep) }.image)
    }

    private static let lists: [String: Chain] = [
        "nothing": Chain([]),
        "crop": Chain([Crop(x: 33, y: 17, width: 211, height: 150)]),
        "turn": Chain([Rotate(degrees: 90), Crop(x: 7, y: 51, width: 120, height: 199)]),
        "left": Chain([Crop(x: 0, y: 0, width: 77, height: 93), Rotate(degrees: 270), Flip(.vertical)]),
        "half": Chain([Rotate(degrees: 180), Resize(120)]),
        "cover": Chain([Resize(PixelSize(square: 100), fit: .cover, gravity: .southEast), Sharpen(0.1)]),
        "fill": Chain([Resize(PixelSize(width: 90, height: 170), fit: .fill), Flip(.horizontal)]),
        "larger": Chain([Crop(x: 40, y: 30, width: 100, height: 100), Resize(300, enlarges: true)]),
        "twice": Chain([
            Crop(x: 51, y: 33, width: 200, height: 180), Resize(111), Crop(x: 9, y: 5, width: 60, height: 70),
        ]),
    ]

    @Test("Cuts, scaling, mirrors and turns act on both, at the map's own scale", arguments: lists.keys.sorted())
    func geometry(_ name: String) async throws {
        let stages = try #require(Self.lists[name])
        let source = try await Self.file(PixelSize(width: 400, height: 300), map: PixelSize(width: 150, height: 112))
        let whole = try await kept(source)
        #expect(try Self.difference(whole) < 2 && whole.gainMap?.size == PixelSize(width: 150, height: 112))
        let result = try await SampleImage.load(source) {
            Decode()
            stages
            Encode(.jpeg, quality: 95)
        }
        let image = try await kept(try #require(result.encoded?.bytes))
        let found = try Self.difference(image)
        #expect(found < 2, "\(name): \(found)")
        #expect(image.gainMap?.parameters == Self.parameters)
        let map = try #require(image.gainMap?.size)
        #expect(Double(map.width) <= Double(image.width) * 0.5 + 2, "\(name): \(map) of \(image.size)")
        #expect(!result.trace.description.contains("gain map"), "\(result.trace)")
    }

    @Test("Bars around the picture have no gain, and the map stays where it was", arguments: [false, true])
    func padded(_ isCut: Bool) async throws {
        let source = try await Self.file(PixelSize(width: 400, height: 300), map: PixelSize(width: 150, height: 112))
        let result = try await SampleImage.load(source) {
            Decode()
            Chain(isCut ? [Crop(x: 51, y: 33, width: 200, height: 150)] : [])
            Resize(PixelSize(width: 200, height: 250), fit: .contain, background: .white)
            Pad(top: 7, left: 31, bottom: 0, right: 50)
            Encode(.jpeg, quality: 95)
        }
        #expect(!result.trace.description.contains("gain map"), "\(result.trace)")
        let image = try await kept(try #require(result.encoded?.bytes))
        #expect(image.size == PixelSize(width: 281, height: 257))
        let inner = Crop(x: 31, y: 7 + 50, width: 200, height: 150)
        let picture = try inner.transformed(image, WorkCancellation())
        let map = try #require(picture.gainMap).fitted(to: picture.size, WorkCancellation())
        var whole = picture
        whole.gainMap = map
        // Next to a bar, levels are between both.
        #expect(try Self.difference(whole) < 4)
        // 0.3 of 3 stops, to the power of gamma.
        let level = Int((255 * pow(0.1, 1.25)).rounded())
        for bar in [
            PixelRegion(x: 0, y: 0, size: PixelSize(width: 24, height: 257)),
            PixelRegion(x: 238, y: 0, size: PixelSize(width: 43, height: 257)),
            PixelRegion(x: 0, y: 0, size: PixelSize(width: 281, height: 50)),
        ] {
            let part = try #require(image.gainMap).cropped(to: bar, of: image.size)
            let levels = try part.fitted(to: bar.size, WorkCancellation()).pixels
            #expect(levels.allSatisfy { abs(Int($0) - level) <= 6 }, "\(bar): \(levels.max() ?? 0)")
        }
    }

    @Test("A picture is turned upright with its map", arguments: 2...8)
    func orientation(_ value: Int) async throws {
        let source = try await Self.file(PixelSize(width: 160, height: 120), map: PixelSize(width: 80, height: 60))
        let exif = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, UInt8(value), 0, 0, 0, 0, 0, 0]
        let turned =
            Array(source.prefix(2)) + GainMapFixture.segment(0xe1, "Exif\0\0", exif) + Array(source.dropFirst(2))
        let image = try await kept(turned)
        #expect(image.size == (value < 5 ? PixelSize(width: 160, height: 120) : PixelSize(width: 120, height: 160)))
        #expect(try Self.difference(image) < 2)
        // Of the upright picture only a part is decoded.
        let part = try await SampleImage.load(turned) {
            Decode()
            Crop(x: 15, y: 21, width: 70, height: 80)
            Encode(.jpeg, quality: 95)
        }
        #expect(try Self.difference(try await kept(try #require(part.encoded?.bytes))) < 2)
    }

    @Test("A request's size reduces the map as it is decoded")
    func reduced() async throws {
        let source = try await Self.file(PixelSize(width: 400, height: 300), map: PixelSize(width: 200, height: 150))
        let list = try ImagePipeline(validating: Chain([ReadInline(), Decode(), Downscale(), Encode(.jpeg)]))
        let response = try await list.load(ImageRequest(.bytes(source), maxPixelSize: 100))
        let image = try await kept(try #require(response.encoded?.bytes))
        #expect(image.size == PixelSize(width: 100, height: 75))
        #expect(image.gainMap?.size == PixelSize(width: 50, height: 38))
        #expect(try Self.difference(image) < 3)
    }

    @Test("What a stage or a format can't keep is dropped, and the trace says why")
    func dropped() async throws {
        let source = try await Self.file(PixelSize(square: 64), map: PixelSize(square: 32))
        func trace(_ decode: Decode = Decode(), @ChainBuilder _ stages: () -> Chain) async throws -> (String, Bool) {
            let result = try await SampleImage.load(source) {
                decode
                stages()
            }
            let isKept = try await result.encoded.asyncMap { try await ImageMetadata(of: $0.bytes).gainMap != nil }
            return (result.trace.description, isKept ?? (result.image?.gainMap != nil))
        }
        let adjusted = try await trace {
            Adjust(brightness: 1.2)
            Encode(.jpeg)
        }
        #expect(adjusted.0.contains("The HDR gain map is dropped, since Adjust(") && !adjusted.1, "\(adjusted.0)")
        let png = try await trace { Encode(.png) }
        #expect(png.0.contains("The HDR gain map is dropped, since Encode(image/png") && !png.1, "\(png.0)")
        let chosen = try await trace(Decode(gainMap: .drop)) { Encode(.jpeg) }
        #expect(chosen.0.contains("The HDR gain map is dropped.") && !chosen.1)
        let pixels = try await trace { Resize(20) }
        #expect(pixels.0.contains("The HDR gain map is dropped.") && !pixels.1)
        let asked = try await trace(Decode(gainMap: .keep)) { Resize(20) }
        #expect(!asked.0.contains("dropped") && asked.1)
    }

    /// Says that it keeps maps, and doesn't.
    private struct Forgetful: Transform, ColorKeeping {
        let signature: String? = "forgetful"
        let keepsColors = true
        let keepsGainMap = true

        func apply(_ image: DecodedImage) async throws -> DecodedImage {
            DecodedImage(size: image.size, layout: image.layout, frames: image.frames)
        }
    }

    @Test("A stage that doesn't do as it says is told in the trace")
    func forgotten() async throws {
        let source = try await Self.file(PixelSize(square: 64), map: PixelSize(square: 32))
        let result = try await SampleImage.load(source) {
            Decode()
            Forgetful()
            Encode(.jpeg)
        }
        let line = result.trace.description.split(separator: "\n").first { $0.hasPrefix("Forgetful") }
        #expect(
            line?.contains("The HDR gain map is dropped, since this stage doesn't keep it.") == true, "\(result.trace)")
    }

    @Test("A map that is cut off is dropped, and the picture is kept")
    func damaged() async throws {
        let source = try await Self.file(PixelSize(square: 200), map: PixelSize(square: 100))
        let result = try await SampleImage.load(Array(source.dropLast(700))) {
            Decode()
            Encode(.jpeg)
        }
        #expect(result.trace.description.contains("dropped, since it is damaged"), "\(result.trace)")
        #expect(try await ImageMetadata(of: try #require(result.encoded?.bytes)).gainMap == nil)
    }

    @Test("A map of gains for single colours isn't kept with a picture that becomes sRGB's")
    func primaries() throws {
        var header = ImageHeader(format: .jpeg, storedSize: PixelSize(square: 9), hasProfile: true)
        (header.profileSpace, header.profileColors, header.gainMap) = (.displayP3, .displayP3, .iso)
        (header.gainMapMemory, header.gainMapIsGray) = (100, false)
        var options = DecodeOptions()
        options.keepsGainMap = true
        #expect(!header.keeping(options).keepsGainMap)
        options.keepsColors = true
        #expect(header.keeping(options).keepsGainMap)
        (options.keepsColors, header.gainMapIsGray) = (false, true)
        #expect(header.keeping(options).keepsGainMap)
        header.convertedColors = CodedColors(primaries: 9, transfer: 16, matrix: 0, isFullRange: true)
        #expect(!header.keeping(options).keepsGainMap)
        #expect(header.keeping(options).losses?.contains("The HDR gain map is dropped.") == true)
    }

    @Test("A map with more than four times its picture's pixels isn't decoded")
    func large() async throws {
        let source = try await Self.file(PixelSize(square: 32), map: PixelSize(square: 64))
        #expect(try await kept(source).gainMap?.size == PixelSize(square: 64))
        let larger = try await Self.file(PixelSize(square: 32), map: PixelSize(square: 65))
        #expect(try await kept(larger).gainMap == nil)
    }

    @Test("The map of a phone keeps its parameters, in ISO 21496-1 and in Adobe's properties")
    func phone() async throws {
        let source = try Pictures.bytes("good/jpeg-ultrahdr-gainmap-mpf.jpg")
        let before = try #require(try await ImageMetadata(of: source).gainMap)
        let result = try await SampleImage.load(source) {
            Decode()
            Resize(200)
            Encode(.jpeg)
        }
        let bytes = try #require(result.encoded?.bytes)
        let after = try #require(try await ImageMetadata(of: bytes).gainMap)
        #expect(after.standard == .iso && after.fault == nil)
        let (one, other) = (try #require(before.parameters), try #require(after.parameters))
        #expect(one.alternateHeadroom.isClose(other.alternateHeadroom) && one.baseHeadroom == other.baseHeadroom)
        #expect(zip(one.channels, other.channels).allSatisfy { $0.maximum.isClose($1.maximum) })
        #expect(one.channels.count == other.channels.count)
        // A reader of Ultra HDR's first version finds the same.
        let start = try #require(try JPEGGainMap(in: bytes, WorkCancellation())?.place)
        let packet = try JPEGSegments(bytes[start...], WorkCancellation()).xmp
        let adobe = try GainMapXMP(packet).adobeParameters()
        #expect(adobe.alternateHeadroom.isClose(other.alternateHeadroom))
        let directory = PictureDirectory(XMPProperties(try JPEGSegments(bytes[...], WorkCancellation()).xmp))
        #expect(directory.places(in: bytes.count) == [start])
    }

    @Test("From JPEG to AVIF and back, with the same parameters and no second opinion on the map")
    func formats() async throws {
        let source = try await Self.file(PixelSize(width: 400, height: 300), map: PixelSize(width: 150, height: 112))
        let avif = try await SampleImage.load(source) {
            Decode()
            Crop(x: 50, y: 20, width: 300, height: 240)
            Resize(150)
            Encode(.avif, quality: 95)
        }
        let bytes = try #require(avif.encoded?.bytes)
        let described = try #require(try await ImageMetadata(of: bytes).gainMap)
        #expect(described.standard == .iso && described.parameters == Self.parameters)
        let image = try await kept(bytes)
        #expect(try Self.difference(image) < 2 && image.gainMap?.channelCount == 1)
        let back = try await SampleImage.load(bytes) {
            Decode()
            Rotate(degrees: 90)
            Encode(.jpeg, quality: 95)
        }
        let turned = try await kept(try #require(back.encoded?.bytes))
        #expect(try Self.difference(turned) < 2 && turned.gainMap?.parameters == Self.parameters)
        #expect(turned.gainMap?.size == image.gainMap?.size.turned)
    }

    @Test("Metadata of the source is kept next to the map's own", arguments: [ImageFormat.jpeg, .avif])
    func metadata(_ format: ImageFormat) async throws {
        let source = try await Self.file(PixelSize(square: 80), map: PixelSize(square: 40))
        var text = [UInt8]("Jane\0".utf8)
        text += [0, 0, 0]
        let exif = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x82, 0x98, 0, 2, 0, 0, 0, 5, 0, 0, 0, 26, 0, 0, 0, 0] + text
        let named =
            Array(source.prefix(2)) + GainMapFixture.segment(0xe1, "Exif\0\0", exif) + Array(source.dropFirst(2))
        var options = EncodeOptions(quality: 90)
        options.metadata = .all
        let result = try await SampleImage.load(named) {
            Decode()
            Encode(format, options: options)
        }
        let found = try await ImageMetadata(of: try #require(result.encoded?.bytes))
        #expect(found.gainMap?.parameters == Self.parameters && found.exifByteCount > 0)
    }

    @Test("The map of an AVIF is decoded")
    func heif() async throws {
        var metadata = GainMapFixture.Metadata()
        metadata.flags = 0
        let fixture = try GainMapFixture.avif([0] + metadata.bytes)
        let image = try await kept(fixture.bytes)
        let map = try #require(image.gainMap)
        #expect(map.size == image.size && map.parameters.alternateHeadroom == 1.3 && !map.parameters.usesBaseColorSpace)
    }

    @Test("Apple's map becomes one of ISO 21496-1 with the same light")
    func apple() async throws {
        let properties = #"apple:HDRGainMapVersion="131072" apple:HDRGainMapHeadroom="4""#
        let picture = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        let size = try await ImageMetadata(of: picture).storedSize
        let gray = DecodedImage(
            size: size, layout: .gray,
            pixels: (0..<size.width * size.height).map { UInt8($0 % size.width * 255 / (size.width - 1)) })
        let map = try await SampleImage.process(gray) { Encode(.jpeg, quality: 100) }.encoded?.bytes ?? []
        let marked = Array(map.prefix(2)) + GainMapFixture.xmp(properties) + Array(map.dropFirst(2))
        let image = try await kept(try GainMapFixture.file(marked))
        let found = try #require(image.gainMap)
        #expect(found.parameters.alternateHeadroom == 2 && found.parameters.channels.map(\.maximum) == [2])
        for column in [0, size.width / 9, size.width / 2, size.width - 1] {
            let coded = Double(column * 255 / (size.width - 1)) / 255
            let light = coded < 0.081 ? coded / 4.5 : pow((coded + 0.099) / 1.099, 1 / 0.45)
            let gain = exp2(2 * Double(found.pixels[column]) / 255)
            #expect(abs(gain - (1 + 3 * light)) < 0.03, "\(column): \(gain)")
        }
    }
}

extension PixelSize {
    fileprivate var turned: PixelSize { PixelSize(width: height, height: width) }
}

extension Double {
    fileprivate func isClose(_ other: Double) -> Bool { abs(self - other) < 1e-6 }
}

extension Optional {
    fileprivate func asyncMap<Result>(_ body: (Wrapped) async throws -> Result) async rethrows -> Result? {
        guard let self else { return nil }
        return try await body(self)
    }
}

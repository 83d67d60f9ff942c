import LibC
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@testable import PipelineImages

/// Expected light is calculated here, from the formulas of ITU-R BT.2100.
@Suite("HDR stays HDR where the result can hold it")
struct HDRTests {
    private static let size = PixelSize(width: 40, height: 30)

    /// A picture in some colours, and the bytes of its file.
    private static func png(
        _ colors: PixelLayout.ColorSpace, alpha: Bool = false, mastering: Bool = false
    ) async throws -> (DecodedImage, [UInt8]) {
        let image = DeepPicture.gradients(size, channels: alpha ? 4 : 3).labelled(colors)
        var metadata = EmbeddedMetadata()
        metadata.colors = colors.codedColors
        if mastering { metadata.mastering = Self.mastering }
        let file = try PNGEncoder().encode(
            image.labelled(.sRGB), quality: 80, options: .init(), metadata: metadata, cancellation: WorkCancellation())
        return (image, file)
    }

    private static let mastering = MasteringMetadata(
        display: MasteringMetadata.Display([0.68, 0.32, 0.265, 0.69, 0.15, 0.06, 0.3127, 0.329, 1000, 0.005]),
        maximumContentLight: 1203, maximumFrameAverageLight: 208)

    private static let spaces: [PixelLayout.ColorSpace] = [
        .bt2100PQ, .bt2100HLG, PixelLayout.ColorSpace(rawValue: 256 * 12 + 16),
        PixelLayout.ColorSpace(rawValue: 256 * 1 + 8),
    ]

    private func load(
        _ bytes: [UInt8], _ decode: Decode = Decode(), @ChainBuilder _ rest: @Sendable () -> Chain
    ) async throws -> (bytes: [UInt8], trace: String) {
        let list = Chain([decode]).stages + rest().stages
        let response = try await SampleImage.load(bytes) { Chain(list) }
        return (try #require(response.encoded?.bytes), "\(response.trace)")
    }

    @Test("PQ, HLG and linear light go from PNG to PNG sample by sample, turned and cut too", arguments: spaces)
    func toPNG(_ colors: PixelLayout.ColorSpace) async throws {
        let (image, file) = try await Self.png(colors)
        let (same, trace) = try await load(file) { Encode(.png) }
        let again = try await SampleImage.decode(same, with: Decode(gamut: .source, depth: .source))
        #expect(again == image)
        #expect(trace.contains("kept") && !trace.contains("SDR"))
        #expect(try await ImageMetadata(of: same).codedColors == colors.codedColors)
        let (cut, _) = try await load(file) {
            Crop(x: 3, y: 4, width: 20, height: 10)
            Rotate(degrees: 90)
            Flip(.horizontal)
            Encode(.png)
        }
        let part = try await SampleImage.decode(cut, with: Decode(gamut: .source, depth: .source))
        #expect(part.layout == image.layout && part.size == PixelSize(width: 10, height: 20))
        // Turned to the right and mirrored, rows become columns.
        #expect(part.samples.prefix(3) == image.samples[3 * (4 * 40 + 3)..<3 * (4 * 40 + 4)])
    }

    @Test("They become an AVIF of 10 bits, or 12 without loss or for linear light", arguments: spaces)
    func toAVIF(_ colors: PixelLayout.ColorSpace) async throws {
        let (image, file) = try await Self.png(colors, alpha: true)
        let isLinear = colors.rawValue & 255 == 8
        for lossless in [false, true] {
            var options = EncodeOptions(quality: 100)
            options.avif.lossless = lossless
            let chosen = options
            let (avif, _) = try await load(file) { Encode(.avif, options: chosen) }
            let metadata = try await ImageMetadata(of: avif)
            #expect(metadata.bitsPerChannel == (lossless || isLinear ? 12 : 10))
            #expect(metadata.codedColors?.primaries == Int(colors.rawValue >> 8))
            #expect(metadata.codedColors?.transfer == Int(colors.rawValue & 255))
            let again = try await SampleImage.decode(avif, with: Decode(gamut: .source, depth: .source))
            #expect(again.layout == image.layout)
            let most = zip(again.samples, image.samples).map { abs(Int($0) - Int($1)) }.max()
            #expect(try #require(most) <= (lossless ? 8 : 900))
            // And back.
            let (png, _) = try await load(avif) { Encode(.png) }
            #expect(try await SampleImage.decode(png, with: Decode(gamut: .source, depth: .source)) == again)
        }
    }

    @Test("The display and the brightest light follow, from PNG to AVIF and back", arguments: KeptMetadata.allCases)
    func mastering(_ kept: KeptMetadata) async throws {
        let (_, file) = try await Self.png(.bt2100PQ, mastering: true)
        let options = EncodeOptions(metadata: kept)
        let (avif, _) = try await load(file) { Encode(.avif, options: options) }
        #expect(try await ImageMetadata(of: avif).mastering == Self.mastering)
        let (png, _) = try await load(avif) { Encode(.png, options: options) }
        #expect(try await ImageMetadata(of: png).mastering == Self.mastering)
        // An SDR picture has another brightest light.
        let (sdr, _) = try await load(file, Decode(gamut: .sRGB)) { Encode(.png, options: options) }
        #expect(try await ImageMetadata(of: sdr).mastering == nil)
    }

    @Test("At the same quality, an AVIF in PQ is nearer to its samples than one in SDR")
    func quality() async throws {
        func error(_ colors: PixelLayout.ColorSpace) async throws -> Double {
            let image = DeepPicture.gradients(Self.size, channels: 3).labelled(colors)
            let made = try await SampleImage.process(image) { Encode(.avif, quality: 60) }
            let bytes = try #require(made.encoded?.bytes)
            let again = try await SampleImage.decode(bytes, with: Decode(gamut: .source, depth: .source))
            return zip(again.samples, image.samples).reduce(0) { $0 + abs(Double($1.0) - Double($1.1)) }
        }
        #expect(try await error(.bt2100PQ) < 0.75 * (try await error(.displayP3)))
    }

    private static var palette: EncodeOptions {
        var options = EncodeOptions()
        options.png.colors = 64
        return options
    }

    private static let reducing: [String: Chain] = [
        "palette": Chain([Encode(.png, options: palette)]),
        "jpeg": Chain([Encode(.jpeg)]), "tiff": Chain([Encode(.tiff)]), "webp": Chain([Encode(.webp)]),
        "blur": Chain([Blur(sigma: 1), Encode(.png)]),
        "accepted": Chain([Encode(AcceptedFormats(accept: "image/webp"))]),
    ]

    @Test("What can't hold it gets SDR, and that is told", arguments: reducing.keys.sorted())
    func reduced(_ name: String) async throws {
        let rest = try #require(Self.reducing[name])
        let (_, file) = try await Self.png(.bt2100PQ, mastering: true)
        let (made, trace) = try await load(file) { rest }
        let told =
            name == "accepted"
            ? "BT.2020, PQ becomes SDR, since image/webp doesn't hold HDR."
            : "PQ becomes SDR by tone mapping (ITU-R BT.2446 A)"
        #expect(trace.contains(told), "\(trace)")
        #expect(try await ImageMetadata(of: made).dynamicRange == .standard)
        // The display and the brightest light were those of the HDR picture.
        #expect(try await ImageMetadata(of: made).mastering == nil)
        let whole = try await SampleImage.decode(file)
        #expect(whole.layout == .rgb)
        guard name == "tiff" else { return }
        #expect(try await SampleImage.decode(made) == whole)
    }

    @Test("8 bits and sRGB are chosen by either option, in every kind of list")
    func chosen() async throws {
        let (image, file) = try await Self.png(.bt2100PQ)
        let sdr = try await SampleImage.decode(file)
        for decode in [Decode(gamut: .sRGB), Decode(depth: .eight)] {
            let (made, trace) = try await load(file, decode) { Encode(.png) }
            #expect(try await SampleImage.decode(made) == sdr)
            #expect(trace.contains("becomes SDR"))
        }
        #expect(try await SampleImage.decode(file, with: Decode(gamut: .source)) == sdr)
        #expect(try await SampleImage.decode(file, with: Decode(depth: .source)) == sdr)
        #expect(try await SampleImage.decode(file, with: Decode(gamut: .source, depth: .source)) == image)
    }

    @Test("An encoder that is chosen late gets the same SDR as one that is known early", arguments: spaces)
    func late(_ colors: PixelLayout.ColorSpace) async throws {
        let (image, file) = try await Self.png(colors, alpha: true)
        let early = try await SampleImage.decode(file)
        let late = try image.convertedToSRGB(WorkCancellation())
        #expect(late.layout == .rgba)
        let most = zip(early.pixels, late.pixels).map { abs(Int($0) - Int($1)) }.max()
        // Linear light is reduced to 8 bits before it is converted early.
        // Early, the low byte of transparency is cut off.
        #expect(try #require(most) <= (colors.rawValue & 255 == 8 ? 12 : 1))
    }

    @Test("What can be read of a truncated HDR picture is SDR, and that is told", arguments: spaces)
    func truncated(_ colors: PixelLayout.ColorSpace) async throws {
        let (_, file) = try await Self.png(colors)
        let half = Array(file.prefix(file.count / 2))
        let sdr = try await SampleImage.decode(half, with: Decode(allowTruncated: true))
        let response = try await SampleImage.load(half) {
            Decode(allowTruncated: true)
            Encode(.png)
        }
        let made = try #require(response.encoded?.bytes)
        #expect(try await ImageMetadata(of: made).dynamicRange == .standard)
        #expect(try await SampleImage.decode(made) == sdr)
        #expect(!"\(response.trace)".contains("kept"), "\(response.trace)")
    }

    @Test("HDR has room in the memory limit, or becomes SDR")
    func memory() async throws {
        let (_, file) = try await Self.png(.bt2100PQ)
        let header = try PNGDecoder().header(of: file, cancellation: WorkCancellation())
        var options = DecodeOptions()
        (options.keepsColors, options.keepsDepth, options.keepsHDR) = (true, true, true)
        let needed = header.keeping(options).decodingMemory(box: nil, frames: 1)
        let least = header.decodingMemory(box: nil, frames: 1)
        #expect(least < needed)
        var limits = ImageLimits()
        limits.memory = needed - 1
        let (made, trace) = try await load(file, Decode(limits: limits)) { Encode(.png) }
        #expect(trace.contains("becomes SDR"))
        #expect(try await ImageMetadata(of: made).dynamicRange == .standard)
    }
}

@Suite("A gain map is applied")
struct GainMapApplicationTests {
    private static let size = PixelSize(width: 60, height: 40)

    /// White and grey halves, with a map that rises to the right.
    private static func file(isBaseHDR: Bool = false) async throws -> (bytes: [UInt8], map: GainMap) {
        let map = try #require(
            GainMap(
                (0..<20 * 10).map { UInt8($0 % 20 * 13) }, size: PixelSize(width: 20, height: 10), channelCount: 1,
                GainMapParameters(
                    checking: [
                        .init(minimum: -0.5, maximum: 2.5, gamma: 1.5, baseOffset: 1 / 64, alternateOffset: 1 / 32)
                    ], base: isBaseHDR ? 2.5 : 0, alternate: isBaseHDR ? 0 : 2.5, usesBaseColorSpace: true),
                stored: PixelSize(width: 20, height: 10), of: size))
        let image: DecodedImage
        if isBaseHDR {
            let samples = (0..<60 * 40 * 3).map { index -> UInt16 in
                let column = index / 3 % 60
                return UInt16(20_000 + 180 * column)
            }
            image = DeepPicture.image(size, channels: 3, samples).labelled(.bt2100PQ)
        } else {
            image = DecodedImage(
                size: size, layout: .rgb,
                pixels: (0..<60 * 40).flatMap { $0 < 1200 ? [255, 255, 255] : [120, 130, 140] })
        }
        var whole = image
        whole.gainMap = map
        var options = EncodeOptions(quality: 100)
        options.avif.chroma = .full
        let chosen = options
        let made = try await SampleImage.process(whole) { Encode(.avif, options: chosen) }
        return (try #require(made.encoded?.bytes), map)
    }

    private static func linear(_ level: Double) -> Double {
        level <= 0.04045 ? level / 12.92 : pow((level + 0.055) / 1.055, 2.4)
    }

    private static func pq(_ level: Double) -> Double {
        let root = pow(level, 32 / 2523.0)
        return pow(max(root - 3424 / 4096.0, 0) / (2413 / 128.0 - 2392 / 128.0 * root), 8192 / 1305.0) * 10_000 / 203
    }

    /// The gain in the middle of a column of the picture, by the formula of ISO 21496-1.
    private static func gain(_ column: Int, _ map: [UInt8], _ width: Int) -> Double {
        let place = min(Double(width - 1), max(0, (Double(column) + 0.5) / 60 * Double(width) - 0.5))
        let (first, share) = (Int(place), place - place.rounded(.down))
        let second = min(width - 1, first + 1)
        let level = (Double(map[first]) * (1 - share) + Double(map[second]) * share) / 255
        return -0.5 + 3 * pow(level, 1 / 1.5)
    }

    @Test("An SDR picture becomes HDR in PQ, as the formula of ISO 21496-1 says")
    func toHDR() async throws {
        let (file, _) = try await Self.file()
        let base = try await SampleImage.decode(file, with: Decode(gainMap: .keep))
        let map = try #require(base.gainMap)
        let made = try await SampleImage.decode(file, with: Decode(gainMap: .apply))
        #expect(
            made.layout == PixelLayout(channelCount: 3, hasAlpha: false, sampleType: .uint16, colorSpace: .bt2100PQ))
        #expect(made.gainMap == nil && made.size == Self.size)
        // White stays white in all primaries.
        for column in [0, 7, 30, 44, 59] {
            let row = Array(map.pixels[map.size.width * 3 * map.channelCount..<map.size.width * 4 * map.channelCount])
            let levels = stride(from: 0, to: row.count, by: map.channelCount).map { row[$0] }
            let light =
                (Self.linear(Double(base.pixels[3 * (600 + column)]) / 255) + 1 / 64)
                * exp2(Self.gain(column, levels, map.size.width)) - 1 / 32
            for channel in 0..<3 {
                let found = Self.pq(Double(made.samples[3 * (600 + column) + channel]) / 65535)
                #expect(abs(found / light - 1) < 0.02, "\(found), not \(light)")
            }
        }
    }

    @Test("An HDR picture becomes the SDR picture of its map in a list without HDR")
    func toSDR() async throws {
        let (file, _) = try await Self.file(isBaseHDR: true)
        let base = try await SampleImage.decode(file, with: Decode(gamut: .source, depth: .source, gainMap: .keep))
        #expect(base.layout.colorSpace == .bt2100PQ)
        let map = try #require(base.gainMap)
        #expect(map.parameters.isBaseHDR)
        let response = try await SampleImage.load(file) {
            Decode()
            Encode(.png)
        }
        #expect("\(response.trace)".contains("BT.2020, PQ kept"))
        let reduced = try await SampleImage.load(file) {
            Decode()
            Encode(.tiff)
        }
        #expect("\(reduced.trace)".contains("PQ becomes SDR by the file's gain map."))
        let made = try await SampleImage.decode(try #require(reduced.encoded?.bytes))
        for column in [0, 7, 30, 44, 59] {
            let levels = (0..<map.size.width).map { map.pixels[(3 * map.size.width + $0) * map.channelCount] }
            let light =
                (Self.pq(Double(base.samples[3 * (600 + column)]) / 65535) + 1 / 64)
                / exp2(Self.gain(column, levels, map.size.width)) - 1 / 32
            let found = Self.linear(Double(made.pixels[3 * (600 + column)]) / 255)
            #expect(abs(found - min(1, max(0, light))) < 0.02, "\(found), not \(light)")
        }
    }

    @Test("A JPEG of an HDR picture has the SDR picture of its map, and the map, which leads back")
    func exchanged() async throws {
        let (file, map) = try await Self.file(isBaseHDR: true)
        let base = try await SampleImage.decode(file, with: Decode(gamut: .source, depth: .source))
        let response = try await SampleImage.load(file) {
            Decode()
            Encode(.jpeg, quality: 100)
        }
        #expect(
            "\(response.trace)".contains("by the file's gain map, which is kept and leads back."), "\(response.trace)")
        let made = try #require(response.encoded?.bytes)
        let parameters = try #require(try await ImageMetadata(of: made).gainMap?.parameters)
        #expect(parameters.baseHeadroom == 0 && parameters.alternateHeadroom == map.parameters.baseHeadroom)
        #expect(parameters.channels[0].baseOffset == 1 / 32 && parameters.channels[0].alternateOffset == 1 / 64)
        let again = try await SampleImage.decode(made, with: Decode(gainMap: .apply))
        #expect(again.layout == base.layout)
        for column in [0, 7, 30, 44, 59] {
            let (one, other) = (base.samples[3 * (600 + column)], again.samples[3 * (600 + column)])
            let ratio = Self.pq(Double(other) / 65535) / Self.pq(Double(one) / 65535)
            #expect(abs(ratio - 1) < 0.06, "\(column): \(ratio)")
        }
        let turned = try await SampleImage.load(file) {
            Decode()
            Rotate(.quarter)
            Encode(.jpeg)
        }
        let size = try await SampleImage.decode(try #require(turned.encoded?.bytes), with: Decode(gainMap: .keep)).size
        #expect(size == PixelSize(width: 40, height: 60))
    }

    @Test("An encoder that is chosen late and holds no HDR writes the SDR picture of the map")
    func late() async throws {
        let (file, _) = try await Self.file(isBaseHDR: true)
        let base = try await SampleImage.decode(file, with: Decode(gamut: .source, depth: .source, gainMap: .keep))
        let sdr = try #require(GainMapApplication(base)).applied(to: base, WorkCancellation())
        for format in [ImageFormat.jpeg, .tiff] {
            let made = try await SampleImage.process(base) { Encode(format, quality: 100) }
            let bytes = try #require(made.encoded?.bytes)
            let map = try await ImageMetadata(of: bytes).gainMap?.parameters
            #expect(map?.isBaseHDR == (format == .jpeg ? false : nil))
            let again = try await SampleImage.decode(bytes)
            let most = zip(again.pixels, sdr.pixels).map { abs(Int($0) - Int($1)) }.max()
            #expect(try #require(most) <= (format == .tiff ? 0 : 12))
        }
    }

    @Test("A map is applied to a base in any gamut that pixels are in")
    func gamut() throws {
        var image = DecodedImage(size: 4, layout: .rgb, pixels: [UInt8](repeating: 255, count: 48))
        image.gainMap = GainMap(
            [UInt8](repeating: 200, count: 16), size: 4, channelCount: 1,
            try GainMapParameters(
                checking: [.init(minimum: 0, maximum: 2, gamma: 1, baseOffset: 0, alternateOffset: 0)], base: 0,
                alternate: 2, usesBaseColorSpace: true),
            stored: 4, of: 4)
        // White is the same in all.
        for space in [PixelLayout.ColorSpace.sRGB, .displayP3, .bt2020, .adobeRGB] {
            let wide = image.labelled(space)
            let made = try #require(GainMapApplication(wide)).applied(to: wide, WorkCancellation())
            for sample in made.samples {
                #expect(abs(Self.pq(Double(sample) / 65535) / exp2(2 * 200 / 255) - 1) < 0.01)
            }
        }
    }

    @Test("In a list that can't hold HDR, the map isn't applied, and the stage is told")
    func refused() async throws {
        let (file, _) = try await Self.file()
        for (rest, stage) in [
            (Chain([Encode(.jpeg)]), "Encode"), (Chain([Blur(sigma: 1), Encode(.png)]), "Blur"),
            (Chain([Encode(.tiff)]), "Encode"),
        ] {
            let response = try await SampleImage.load(file) {
                Decode(gainMap: .apply)
                rest
            }
            let trace = "\(response.trace)"
            #expect(trace.contains("The HDR gain map is dropped, since \(stage)"), "\(trace)")
            #expect(try await ImageMetadata(of: try #require(response.encoded?.bytes)).dynamicRange == .standard)
        }
    }

    @Test(
        "Applied, cut and scaled, a picture is near to the one that is cut and scaled first", arguments: [false, true])
    func order(_ isCut: Bool) async throws {
        let (file, _) = try await Self.file()
        let stages =
            isCut
            ? Chain([Crop(x: 12, y: 4, width: 30, height: 24), Rotate(degrees: 90)])
            : Chain([Resize(PixelSize(width: 30, height: 20), fit: .fill)])
        let late = try await SampleImage.load(file) {
            Decode(gainMap: .keep)
            stages
            Encode(.avif, quality: 100)
        }
        let one = try await SampleImage.decode(
            try #require(late.encoded?.bytes), with: Decode(gamut: .source, depth: .source, gainMap: .apply))
        let early = try await SampleImage.load(file) {
            Decode(gainMap: .apply)
            stages
        }
        let other = try #require(early.image)
        #expect(one.size == other.size && one.layout == other.layout)
        let error = zip(one.samples, other.samples).reduce(0.0) { sum, pair in
            let difference = (Double(pair.0) - Double(pair.1)) / 65535
            return sum + difference * difference
        }
        #expect(-10 * log10(error / Double(one.samples.count)) > 35)
    }
}

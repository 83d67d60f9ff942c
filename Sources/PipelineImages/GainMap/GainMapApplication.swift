import LibC
import Pipeline

/// Applies a gain map to its picture with full weight (ISO 21496-1): makes the HDR picture of an SDR one, or the SDR picture
/// of an HDR one.
struct GainMapApplication {
    private let map: GainMap
    private let space: PixelLayout.ColorSpace
    private let light: LightLevels
    /// Whether it is the light of a scene, as in HLG.
    private let isScene: Bool
    /// From the picture's primaries to those in which the map is applied, and from there to the result's.
    private let toMap, toResult: Matrix3
    /// What light is multiplied by for a level of the map from 0 to 1, channel by channel.
    private let gains: [SampledCurve]
    private let baseOffset, alternateOffset: SIMD3<Double>
    private var makesHDR: Bool { !map.parameters.isBaseHDR }

    /// The light of SDR's white in cd/m² (ITU-R BT.2408).
    static let white = 203.0

    /// Prepares to apply the map of a picture; `nil` without one, and for colours without known primaries.
    init?(_ image: DecodedImage) {
        let space = image.layout.colorSpace
        guard let map = image.gainMap, !map.parameters.channels.isEmpty, !image.isAnimated,
            let base = space.primaries
        else { return nil }
        let between = map.parameters.usesBaseColorSpace ? base : Self.primaries(map.profile) ?? base
        (self.map, self.space) = (map, space)
        toMap = base.matrix(to: between)
        toResult = between.matrix(to: map.parameters.isBaseHDR ? .sRGB : .bt2020)
        light = LightLevels(space, isDeep: image.layout.isDeep)
        isScene = TransferCurve(Int(space.rawValue & 255)) == .hlg
        let sign: Double = map.parameters.isBaseHDR ? -1 : 1
        let channels = map.parameters.channels
        gains = channels.map { channel in
            SampledCurve { level in
                exp2(sign * (channel.minimum + (channel.maximum - channel.minimum) * pow(level, 1 / channel.gamma)))
            }
        }
        func offsets(_ value: (GainMapParameters.Channel) -> Double) -> SIMD3<Double> {
            channels.count == 1
                ? SIMD3(repeating: value(channels[0]))
                : SIMD3(value(channels[0]), value(channels[1]), value(channels[2]))
        }
        (baseOffset, alternateOffset) = (offsets(\.baseOffset), offsets(\.alternateOffset))
    }

    /// The map of the picture that it makes of an HDR one, which leads back to that; `nil` if the colours in which it is
    /// applied have no profile.
    var exchanged: GainMap? {
        let parameters = map.parameters
        var profile = parameters.usesBaseColorSpace ? ICCProfile.withPrimaries[Int(space.rawValue >> 8)] : map.profile
        let usesBaseColorSpace = profile.flatMap(Self.primaries)?.name == ColorPrimaries.sRGB.name
        if usesBaseColorSpace { profile = [] }
        let channels = parameters.channels.map {
            GainMapParameters.Channel(
                minimum: $0.minimum, maximum: $0.maximum, gamma: $0.gamma, baseOffset: $0.alternateOffset,
                alternateOffset: $0.baseOffset)
        }
        guard let profile,
            let exchanged = try? GainMapParameters(
                checking: channels, base: parameters.alternateHeadroom, alternate: parameters.baseHeadroom,
                usesBaseColorSpace: usesBaseColorSpace)
        else { return nil }
        return GainMap(
            map.pixels, size: map.size, channelCount: map.channelCount, exchanged, stored: map.storedSize,
            of: map.pictureSize, part: map.part, profile: profile)
    }

    private static func primaries(_ profile: [UInt8]) -> ColorPrimaries? {
        let profile = ICCProfile(profile)
        if let coded = profile.codedColors, let named = ColorPrimaries.named[coded.primaries] { return named }
        switch profile.namedSpace {
        case .sRGB: return .sRGB
        case .displayP3: return .named[12]
        case .bt2020: return .bt2020
        case .adobeRGB: return .adobeRGB
        default: return nil
        }
    }

    /// Returns the alternate picture, without a map: in PQ with the primaries of BT.2020 and 16 bits a channel if that is the
    /// HDR one, else in sRGB with 8.
    /// - Throws: `CancellationError`.
    func applied(to image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let hasAlpha = image.layout.hasAlpha
        let layout = PixelLayout(
            channelCount: hasAlpha ? 4 : 3, hasAlpha: hasAlpha, sampleType: makesHDR ? .uint16 : .uint8,
            colorSpace: makesHDR ? .bt2100PQ : .sRGB)
        let count = image.size.bytes(layout.bytesPerPixel)
        let bytes = try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            try image.frames[0].bytes.withUnsafeBytes { source in
                let out = UnsafeMutableRawBufferPointer(buffer)
                if image.layout.isDeep {
                    try fill(out, layout, from: source.bindMemory(to: UInt16.self), image, cancellation)
                } else {
                    try fill(out, layout, from: source.bindMemory(to: UInt8.self), image, cancellation)
                }
            }
            filled = count
        }
        return try DecodedImage(
            validating: bytes, size: image.size, layout: layout, nativeSize: image.nativeSize, region: image.region)
    }

    private func fill<Sample: FixedWidthInteger>(
        _ out: UnsafeMutableRawBufferPointer, _ layout: PixelLayout, from samples: UnsafeBufferPointer<Sample>,
        _ image: DecodedImage, _ cancellation: WorkCancellation
    ) throws {
        let (channels, made) = (image.layout.channelCount, layout.channelCount)
        let (columns, rows) = (places(image.width, .horizontal), places(image.height, .vertical))
        var place = 0
        for y in 0..<image.height {
            try cancellation.check()
            for x in 0..<image.width {
                let start = (y * image.width + x) * channels
                let (green, blue) = channels < 3 ? (start, start) : (start + 1, start + 2)
                let base = SIMD3(
                    light[Int(samples[start])], light[Int(samples[green])], light[Int(samples[blue])])
                let color = toned(base, at: columns[x], rows[y])
                for channel in 0..<3 { store(color[channel], in: out, place + channel) }
                if layout.hasAlpha {
                    let alpha = Int(samples[start + channels - 1])
                    if makesHDR {
                        let level = Sample.bitWidth == 8 ? alpha * 257 : alpha
                        out.storeBytes(of: UInt16(level), toByteOffset: 2 * (place + 3), as: UInt16.self)
                    } else {
                        out[place + 3] = Sample.bitWidth == 8 ? UInt8(alpha) : UInt8(reducing: UInt16(alpha))
                    }
                }
                place += made
            }
        }
    }

    private func store(_ light: Double, in out: UnsafeMutableRawBufferPointer, _ place: Int) {
        if makesHDR {
            let share = min(1, max(0, light * Self.white / 10_000))
            let level = Self.pqLevels.value(share.squareRoot().squareRoot())
            out.storeBytes(of: UInt16(level * 65535 + 0.5), toByteOffset: 2 * place, as: UInt16.self)
        } else {
            out[place] = ICCConversion.level(light)
        }
    }

    /// The light of the alternate picture at a place of the map, in the result's primaries.
    private func toned(_ base: SIMD3<Double>, at column: GainMap.Place, _ row: GainMap.Place) -> SIMD3<Double> {
        var light = base
        if isScene {
            // BT.2100's system gamma for 1000 cd/m², which leaves SDR's white where it is.
            light *= pow(max(0, (light * ToneMapping.weights).sum()), 0.2)
        }
        let gain: SIMD3<Double>
        if map.channelCount == 1 {
            let level = map.level(column, row, 0)
            gain =
                gains.count == 1
                ? SIMD3(repeating: gains[0].value(level))
                : SIMD3(gains[0].value(level), gains[1].value(level), gains[2].value(level))
        } else {
            gain = SIMD3(
                gains[0].value(map.level(column, row, 0)), gains[gains.count / 2].value(map.level(column, row, 1)),
                gains[gains.count - 1].value(map.level(column, row, 2)))
        }
        return toResult * ((toMap * light + baseOffset) * gain - alternateOffset)
    }

    private enum Direction { case horizontal, vertical }

    /// The places in the map of a picture's columns or rows, whose centres lie over each other.
    private func places(_ count: Int, _ direction: Direction) -> [GainMap.Place] {
        let (start, length, size) =
            direction == .horizontal
            ? (map.part.x, map.part.width, map.size.width) : (map.part.y, map.part.height, map.size.height)
        return (0..<count).map { index in
            let share = start + (Double(index) + 0.5) / Double(count) * length
            return GainMap.Place(share * Double(size), of: size)
        }
    }

    /// PQ's level of the fourth root of a share of 10,000 cd/m².
    private static let pqLevels = SampledCurve(places: 1 << 16) { TransferCurve.pqLevel($0 * $0 * $0 * $0) }
}

import LibC
import Pipeline

/// Converts PQ and HLG to sRGB by ITU-R BT.2446 method A, which maps 1000 cd/m² to white.
struct ToneMapping {
    /// The light of the brightest white, in cd/m² (`L_HDR`). Brighter light is clipped.
    static let peak = 1000.0
    /// The weights of red, green and blue in BT.2020's luma.
    static let weights = SIMD3(0.2627, 0.6780, 0.0593)

    /// The light of each stored level, and its root of 1/2.4, as the method takes it.
    private let light, signals: [Double]
    private let isScene: Bool
    /// From the file's primaries to BT.2020's; `nil` if they are these.
    private let toWide: Matrix3?
    private let toSRGB: Matrix3

    /// - Parameter bits: 8 or 16, the depth of the samples to convert.
    /// - Returns: `nil` unless the colours are PQ or HLG of known primaries.
    init?(_ colors: CodedColors, bits: Int) {
        guard let curve = TransferCurve(colors.transfer), curve.isHighRange,
            let toWide = ColorPrimaries.matrix(from: colors.primaries, to: 9),
            let toSRGB = ColorPrimaries.matrix(from: 9, to: 1)
        else { return nil }
        let last = Double(1 << bits - 1)
        light = (0..<1 << bits).map { curve.light(colors.level(Double($0) / last)) }
        signals = light.map(Self.root)
        isScene = curve == .hlg
        self.toWide = colors.primaries == 9 ? nil : toWide
        self.toSRGB = toSRGB
    }

    /// Converts 8-bit pixels in place. Alpha stays as it is.
    /// - Throws: `CancellationError`.
    func apply(to pixels: inout [UInt8], channels: Int, _ cancellation: WorkCancellation) throws {
        try pixels.withUnsafeMutableBufferPointer { pixels in
            for start in stride(from: 0, to: pixels.count, by: channels) {
                if start % (channels << 16) == 0 { try cancellation.check() }
                let (green, blue) = channels < 3 ? (start, start) : (start + 1, start + 2)
                let mapped = color(Int(pixels[start]), Int(pixels[green]), Int(pixels[blue]))
                for channel in 0..<min(channels, 3) { pixels[start + channel] = mapped[channel] }
            }
        }
    }

    /// Converts a row of 16-bit samples, the high byte first, to 8 bits; each of one, two, three or four channels.
    func convert(_ samples: UnsafePointer<UInt8>, to pixels: UnsafeMutablePointer<UInt8>, count: Int, channels: Int) {
        func level(_ index: Int) -> Int { Int(samples[2 * index]) << 8 | Int(samples[2 * index + 1]) }
        let colors = channels < 3 ? 1 : 3
        for start in stride(from: 0, to: count * channels, by: channels) {
            let (green, blue) = colors == 1 ? (start, start) : (start + 1, start + 2)
            let mapped = color(level(start), level(green), level(blue))
            for channel in 0..<colors { pixels[start + channel] = mapped[channel] }
            if channels > colors { pixels[start + colors] = samples[2 * (start + colors)] }
        }
    }

    /// The sRGB levels of a colour's stored levels.
    func color(_ red: Int, _ green: Int, _ blue: Int) -> SIMD3<UInt8> {
        var signal = SIMD3(signals[red], signals[green], signals[blue])
        if let toWide {
            let light = toWide * SIMD3(self.light[red], self.light[green], self.light[blue])
            signal = SIMD3(Self.root(light.x), Self.root(light.y), Self.root(light.z))
        }
        if isScene {
            // BT.2100's system gamma, 1.2 at 1000 cd/m².
            let light = SIMD3(self.light[red], self.light[green], self.light[blue])
            signal *= pow(((toWide.map { $0 * light } ?? light) * Self.weights).sum(), 0.2 / 2.4)
        }
        let luma = (signal * Self.weights).sum()
        guard luma > 0 else { return SIMD3() }
        let gain = Self.gains.value(luma)
        let (blueness, redness) = (gain * (signal.z - luma) / 1.8814, gain * (signal.x - luma) / 1.4746)
        let toned = gain * 1.1 * luma - max(0.1 * redness, 0)
        let display =
            toSRGB
            * SIMD3(
                Self.powers.value(toned + 1.4746 * redness),
                Self.powers.value(toned - (0.2627 * 1.4746 * redness + 0.0593 * 1.8814 * blueness) / 0.6780),
                Self.powers.value(toned + 1.8814 * blueness))
        return SIMD3(
            ICCConversion.level(display.x), ICCConversion.level(display.y), ICCConversion.level(display.z))
    }

    /// The method's factor of the colour differences for a luma from 0 to 1: the mapped luma by 1.1 times the luma.
    private static let gains = SampledCurve { luma in
        let luma = max(luma, 1e-6)
        let (bright, dark) = (1 + 32 * pow(peak / 10_000, 1 / 2.4), 1 + 32 * pow(100 / 10_000, 1 / 2.4))
        let perceived = log(1 + (bright - 1) * luma) / log(bright)
        let compressed =
            switch perceived {
            case ...0.7399: 1.0770 * perceived
            case ..<0.9909: -1.1510 * perceived * perceived + 2.7811 * perceived - 0.6302
            default: 0.5 * perceived + 0.5
            }
        return (pow(dark, compressed) - 1) / (dark - 1) / (1.1 * luma)
    }

    private static let powers = SampledCurve { pow($0, 2.4) }

    private static func root(_ light: Double) -> Double { pow(min(1, max(0, light)), 1 / 2.4) }
}

/// A function of numbers from 0 to 1, which is calculated once at some places.
struct SampledCurve {
    private let values: [Double]

    init(places: Int = 4096, _ function: (Double) -> Double) {
        values = (0...places).map { function(Double($0) / Double(places)) }
    }

    func value(_ place: Double) -> Double {
        let last = values.count - 1
        let place = min(1, max(0, place)) * Double(last)
        let index = min(last - 1, Int(place))
        return values[index] + (values[index + 1] - values[index]) * (place - Double(index))
    }
}

extension CodedColors {
    /// A stored level from 0 to 1 in full range.
    func level(_ stored: Double) -> Double {
        isFullRange ? stored : min(1, max(0, (stored * 255 - 16) / 219))
    }
}

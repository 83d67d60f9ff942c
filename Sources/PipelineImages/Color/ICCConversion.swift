import CImages

/// Converts colours to sRGB from a profile that consists only of curves and primaries, or of one curve of greys
/// (ICC.1:2010, annex F.3): Display P3, Adobe RGB, Rec. 2020 and most others that cameras and editors write.
struct ICCConversion {
    private enum Tables {
        /// The sRGB level of each level.
        case gray([UInt8])
        /// The linear light of each level, channel by channel, and the matrix to sRGB's linear light.
        case colors(curves: [Float], matrix: [Float])
    }

    private let tables: Tables
    private let channels: Int

    /// Returns `nil` if the profile is more complex, or is for another number of channels.
    init?(_ profile: ICCProfile, channels: Int) {
        // A multidimensional table can't be replaced by curves.
        guard profile.text(at: 20) == "XYZ ", profile.tag("A2B0") == nil else { return nil }
        self.channels = channels
        if channels == 1 {
            guard profile.space == "GRAY", let curve = Self.curve("kTRC", of: profile) else { return nil }
            tables = .gray(curve.map { Self.encoding[Self.step($0)] })
            return
        }
        guard profile.space == "RGB ", let red = profile.xyz("rXYZ"), let green = profile.xyz("gXYZ"),
            let blue = profile.xyz("bXYZ"), let reds = Self.curve("rTRC", of: profile),
            let greens = Self.curve("gTRC", of: profile), let blues = Self.curve("bTRC", of: profile)
        else { return nil }
        let matrix = Self.fromXYZ.flatMap { row in
            [red, green, blue].map { Float(row[0] * $0[0] + row[1] * $0[1] + row[2] * $0[2]) }
        }
        tables = .colors(curves: (reds + greens + blues).map { Float($0) }, matrix: matrix)
    }

    /// Replaces the curves of a profile by sRGB's, and leaves its primaries. Returns `nil` if the profile is more complex.
    init?(unifying profile: ICCProfile, channels: Int) {
        guard profile.space == "RGB ", profile.text(at: 20) == "XYZ ", profile.tag("A2B0") == nil,
            let reds = Self.curve("rTRC", of: profile), let greens = Self.curve("gTRC", of: profile),
            let blues = Self.curve("bTRC", of: profile)
        else { return nil }
        self.channels = channels
        tables = .colors(
            curves: (reds + greens + blues).map { Float($0) }, matrix: [1, 0, 0, 0, 1, 0, 0, 0, 1])
    }

    /// Converts by a curve for all channels, as the linear light of each level, and by a matrix to sRGB's linear light.
    init(light: [Double], matrix: [Double], channels: Int) {
        self.channels = channels
        tables =
            channels == 1
            ? .gray(light.map { Self.encoding[Self.step($0)] })
            : .colors(curves: (light + light + light).map { Float($0) }, matrix: matrix.map { Float($0) })
    }

    /// The sRGB level of linear light, clipped.
    static func level(_ light: Double) -> UInt8 { encoding[step(min(1, max(0, light)))] }

    /// Converts pixels in place.
    func apply(to pixels: inout [UInt8]) {
        let (count, channels) = (pixels.count / channels, channels)
        pixels.withUnsafeMutableBufferPointer { pixels in
            guard let start = pixels.baseAddress else { return }
            switch tables {
            case .gray(let table): for index in pixels.indices { pixels[index] = table[Int(pixels[index])] }
            case .colors(let curves, let matrix):
                cresample_convert_colours(start, count, Int32(channels), curves, matrix, Self.encoding)
            }
        }
    }

    /// The linear light of each of 256 levels, from 0 to 1.
    private static func curve(_ name: String, of profile: ICCProfile) -> [Double]? {
        guard let tag = profile.tag(name) else { return nil }
        var curve: [Double] = []
        for level in 0..<256 {
            guard let light = ICCProfile.light(Double(level) / 255, tag), light.isFinite else { return nil }
            curve.append(min(1, max(0, light)))
        }
        return curve
    }

    /// XYZ relative to D50 to linear sRGB (IEC 61966-2-1, adapted by Bradford's matrix).
    private static let fromXYZ = [
        [3.133_856_1, -1.616_866_7, -0.490_614_6], [-0.978_768_4, 1.916_141_5, 0.033_454_0],
        [0.071_945_3, -0.228_991_4, 1.405_242_7],
    ]

    private static func step(_ light: Double) -> Int { Int((light * Double(encoding.count - 1)).rounded()) }

    /// The sRGB level of each step of linear light.
    private static let encoding: [UInt8] = (0..<Int(cresample_encoding_steps)).map { step in
        let light = Double(step) / Double(cresample_encoding_steps - 1)
        return UInt8((ICCProfile.encoded(light) * 255).rounded())
    }
}

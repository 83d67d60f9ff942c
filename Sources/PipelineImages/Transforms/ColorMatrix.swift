import LibC

/// A 3×3 matrix of factors that transforms colours (Filter Effects Module Level 1, section 9.6).
struct ColorMatrix {
    /// The factors as fixed-point numbers with 12 fractional bits.
    private let factors: [Int]

    private init(_ values: [Double]) { factors = values.map { Int(($0 * 4096).rounded()) } }

    private static let luma = [0.213, 0.715, 0.072]

    /// Multiplies every channel by a factor.
    static func brightness(_ factor: Double) -> ColorMatrix {
        ColorMatrix([factor, 0, 0, 0, factor, 0, 0, 0, factor])
    }

    /// Scales the distance of colours from grey.
    static func saturation(_ factor: Double) -> ColorMatrix {
        ColorMatrix(
            (0..<9).map { index -> Double in
                let gray = luma[index % 3] * (1 - factor)
                return index / 3 == index % 3 ? gray + factor : gray
            })
    }

    /// Rotates hues about the grey axis, in degrees.
    static func hue(_ degrees: Double) -> ColorMatrix {
        let (sine, cosine) = (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
        return ColorMatrix([
            luma[0] + cosine * (1 - luma[0]) - sine * luma[0],
            luma[1] - cosine * luma[1] - sine * luma[1],
            luma[2] - cosine * luma[2] + sine * (1 - luma[2]),
            luma[0] - cosine * luma[0] + sine * 0.143,
            luma[1] + cosine * (1 - luma[1]) + sine * 0.140,
            luma[2] - cosine * luma[2] - sine * 0.283,
            luma[0] - cosine * luma[0] - sine * (1 - luma[0]),
            luma[1] - cosine * luma[1] + sine * luma[1],
            luma[2] + cosine * (1 - luma[2]) + sine * luma[2],
        ])
    }

    /// Returns the new colour with clamped channels, in sixteenths of a level.
    func applied(to color: SIMD3<Int32>) -> SIMD3<Int32> {
        factors.withUnsafeBufferPointer { factors in
            var result = SIMD3<Int32>()
            for row in 0..<3 {
                var sum = 2048
                for column in 0..<3 { sum += factors[3 * row + column] * Int(color[column]) }
                result[row] = Int32(min(255 * 16, max(0, sum >> 12)))
            }
            return result
        }
    }
}

import LibC
public import Pipeline

extension DecodedImage {
    /// Returns the picture's BlurHash, a short text from which a blurred placeholder can be drawn (the format of
    /// blurha.sh).
    ///
    /// The hash is calculated from the first frame over white, reduced to fit 100×100 pixels.
    /// - Parameters:
    ///   - columns: Waves across, 1 to 9; 4 by default.
    ///   - rows: Waves down, 1 to 9; 3 by default.
    /// - Throws: `LoadError.Code.unsupportedLayout` unless the pixels are 8-bit sRGB; `CancellationError`.
    /// - Precondition: Both numbers are in their range.
    public func blurHash(columns: Int = 4, rows: Int = 3) async throws -> String {
        precondition(1...9 ~= columns && 1...9 ~= rows, "A BlurHash has 1 to 9 waves across and down.")
        return try await BlockingThreads.decoding.run { cancellation in
            let image = try reduced(to: 100, cancellation).opaque(over: .white, cancellation)
            return try image.withPixels { BlurHash(columns, rows, of: $0, image.size).text }
        }
    }
}

/// The waves of a picture in linear light, and their encoding as text.
struct BlurHash {
    private let columns: Int
    private let rows: Int
    /// Red, green and blue of each wave. The first is the mean colour.
    private var waves: [SIMD3<Double>] = []

    init(_ columns: Int, _ rows: Int, of pixels: UnsafeBufferPointer<UInt8>, _ size: PixelSize) {
        self.columns = columns
        self.rows = rows
        let linear = (0..<256).map { Self.linear($0) }
        for row in 0..<rows {
            for column in 0..<columns {
                let across = (0..<size.width).map { cos(.pi * Double(column * $0) / Double(size.width)) }
                let down = (0..<size.height).map { cos(.pi * Double(row * $0) / Double(size.height)) }
                var sum = SIMD3<Double>()
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        let pixel = 3 * (y * size.width + x)
                        let color = SIMD3(
                            linear[Int(pixels[pixel])], linear[Int(pixels[pixel + 1])], linear[Int(pixels[pixel + 2])])
                        sum += color * (across[x] * down[y])
                    }
                }
                waves.append(sum * (row + column == 0 ? 1 : 2) / Double(size.width * size.height))
            }
        }
    }

    /// The numbers of waves, the strongest wave, the mean colour, and each wave relative to the strongest, in base 83.
    var text: String {
        let rest = waves.dropFirst()
        let strongest = rest.map { max(abs($0.x), abs($0.y), abs($0.z)) }.max() ?? 0
        let level = rest.isEmpty ? 0 : Int(min(82, max(0, (strongest * 166 - 0.5).rounded(.down))))
        let mean = (0..<3).reduce(0) { $0 << 8 | Self.encoded(waves[0][$1]) }
        let parts = rest.map { wave in
            (0..<3).reduce(0) { sum, channel in
                let part = wave[channel] * 166 / Double(level + 1)
                let root = part < 0 ? -(-part).squareRoot() : part.squareRoot()
                return sum * 19 + Int(min(18, max(0, (root * 9 + 9.5).rounded(.down))))
            }
        }
        return Self.digits(columns - 1 + (rows - 1) * 9, 1) + Self.digits(level, 1) + Self.digits(mean, 4)
            + parts.map { Self.digits($0, 2) }.joined()
    }

    static func linear(_ value: Int) -> Double {
        let value = Double(value) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    static func encoded(_ value: Double) -> Int {
        let value = min(1, max(0, value))
        let curved: Double = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
        return Int(curved * 255 + 0.5)
    }

    static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")

    private static func digits(_ number: Int, _ count: Int) -> String {
        var (number, digits) = (number, "")
        for _ in 0..<count {
            digits = String(alphabet[number % 83]) + digits
            number /= 83
        }
        return digits
    }
}

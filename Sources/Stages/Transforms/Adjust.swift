public import Pipeline

/// Changes brightness, saturation and hue, in this order, as the CSS filters of these names do. Transparency stays.
///
/// - Throws: `CancellationError`.
public struct Adjust: Transform, PixelTransform {
    private let brightness: Double
    private let saturation: Double
    private let hue: Double
    let threads: BlockingThreads

    /// Adjusts.
    /// - Parameters:
    ///   - brightness: what each channel is multiplied by, 0 to 10; 1, the default, changes nothing.
    ///   - saturation: 0 for grey, 1, the default, for no change, above it for more; at most 10.
    ///   - hue: by how many degrees colours turn; 0 by default.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(
        brightness: Double = 1, saturation: Double = 1, hue: Double = 0, threads: BlockingThreads = .decoding
    ) {
        self.brightness = brightness.isFinite ? min(10, max(0, brightness)) : 1
        self.saturation = saturation.isFinite ? min(10, max(0, saturation)) : 1
        self.hue = hue.isFinite ? hue.truncatingRemainder(dividingBy: 360) : 0
        self.threads = threads
    }

    /// All three.
    public var signature: String? { "adjust(\(parameters))" }

    /// All three.
    public var parameters: String { "brightness: \(brightness), saturation: \(saturation), hue: \(hue)" }

    /// Adjusts.
    public func apply(_ image: DecodedImage) async throws -> DecodedImage { try await applyOnThreads(image) }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard brightness != 1 || saturation != 1 || hue != 0 else { return image }
        let channels = image.layout.channels
        // With 12 bits behind the point.
        let matrix = ColourMatrix(brightness: brightness, saturation: saturation, hue: hue)
            .values.map { Int(($0 * 4096).rounded()) }
        let grey = Int((brightness * 4096).rounded())
        return try image.mapFrames(cancellation) { pixels in
            [UInt8](unsafeUninitializedCapacity: pixels.count) { result, count in
                for start in stride(from: 0, to: pixels.count, by: channels) {
                    if channels == 1 {
                        result[start] = UInt8(clamping: (Int(pixels[start]) * grey + 2048) >> 12)
                        continue
                    }
                    let (red, green, blue) = (Int(pixels[start]), Int(pixels[start + 1]), Int(pixels[start + 2]))
                    for row in 0..<3 {
                        let sum = matrix[3 * row] * red + matrix[3 * row + 1] * green + matrix[3 * row + 2] * blue
                        result[start + row] = UInt8(clamping: (sum + 2048) >> 12)
                    }
                    if channels == 4 { result[start + 3] = pixels[start + 3] }
                }
                count = pixels.count
            }
        }
    }
}

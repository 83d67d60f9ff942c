public import Pipeline

/// Puts the picture on a background, which ends its transparency. A picture without any stays as it is.
///
/// - Throws: `CancellationError`.
public struct Flatten: Transform, PixelTransform {
    private let background: Colour
    let threads: BlockingThreads

    /// Flattens.
    /// - Parameters:
    ///   - background: the colour, by default white; its own alpha is of no account.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(_ background: Colour = .white, threads: BlockingThreads = .decoding) {
        self.background = background
        self.threads = threads
    }

    /// The background.
    public var signature: String? { "flatten(\(parameters))" }

    /// The background.
    public var parameters: String { "\(background)" }

    /// Flattens.
    public func apply(_ image: DecodedImage) async throws -> DecodedImage { try await applyOnThreads(image) }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard image.layout == .rgba else { return image }
        let behind = [background.red, background.green, background.blue].map(Int.init)
        return try image.mapFrames(layout: .rgb, cancellation) { pixels in
            [UInt8](unsafeUninitializedCapacity: pixels.count / 4 * 3) { result, count in
                for index in 0..<pixels.count / 4 {
                    let alpha = Int(pixels[4 * index + 3])
                    for channel in 0..<3 {
                        let sum = Int(pixels[4 * index + channel]) * alpha + behind[channel] * (255 - alpha)
                        result[3 * index + channel] = UInt8((sum + 127) / 255)
                    }
                }
                count = pixels.count / 4 * 3
            }
        }
    }
}

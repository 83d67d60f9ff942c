import LibC
package import Pipeline

/// Measures how similar two pictures of the same size are. Only the first frames are compared.
///
/// Pictures with transparency are compared over black and over white, and the lower values count.
package struct ImageComparison: Sendable {
    /// The peak signal-to-noise ratio of red, green and blue together, in dB: 10 log₁₀(255² / mean square error). Infinite
    /// if no pixel differs.
    package let psnr: Double
    /// The structural similarity of the lumas, 1 at most; see `StructuralSimilarity`.
    package let ssim: Double

    /// Compares two pictures.
    /// - Throws: `LoadError.Code.untransformable` if their sizes differ; `LoadError.Code.unsupportedLayout` unless their
    ///   pixels are 8-bit sRGB; `CancellationError`.
    package init(of left: DecodedImage, _ right: DecodedImage) async throws {
        self = try await BlockingThreads.decoding.run { try ImageComparison(of: left, right, $0) }
    }

    private init(of left: DecodedImage, _ right: DecodedImage, _ cancellation: WorkCancellation) throws {
        guard left.size == right.size else {
            throw LoadError(
                .untransformable, subject: "",
                "The pictures have different sizes, \(left.size) and \(right.size); resize one of them.")
        }
        let isTransparent = try left.hasTransparency() || right.hasTransparency()
        var (psnr, ssim) = (Double.infinity, 1.0)
        for background in isTransparent ? [Color.black, .white] : [.black] {
            let left = try left.still.opaque(over: background, cancellation)
            let right = try right.still.opaque(over: background, cancellation)
            try left.withPixels { leftPixels in
                try right.withPixels { rightPixels in
                    let ratio = try Self.psnr(leftPixels, rightPixels, cancellation)
                    // Equal pictures keep exactly 1, which rounding would miss.
                    guard ratio.isFinite else { return }
                    psnr = min(psnr, ratio)
                    ssim = min(
                        ssim, try StructuralSimilarity(left.size).mean(leftPixels, rightPixels, cancellation))
                }
            }
        }
        self.psnr = psnr
        self.ssim = ssim
    }

    private static func psnr(
        _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>, _ cancellation: WorkCancellation
    ) throws -> Double {
        var sum = 0
        for start in stride(from: 0, to: left.count, by: 1 << 16) {
            try cancellation.check()
            for index in start..<min(left.count, start + 1 << 16) {
                let difference = Int(left[index]) - Int(right[index])
                sum += difference * difference
            }
        }
        return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(left.count) / Double(sum))
    }
}

extension DecodedImage {
    /// The first frame as a still picture.
    var still: DecodedImage { isAnimated ? DecodedImage(size: size, layout: layout, frames: [frames[0]]) : self }

    /// The picture over a background, in red, green and blue.
    func opaque(over background: Color, _ cancellation: WorkCancellation) throws -> DecodedImage {
        try Flatten(background).transformed(self, cancellation).withColor(cancellation)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The luma (ITU-R BT.709) of a pixel of three channels, 0 to 255.
    func luma(_ pixel: Int) -> Double {
        0.2126 * Double(self[3 * pixel]) + 0.7152 * Double(self[3 * pixel + 1]) + 0.0722 * Double(self[3 * pixel + 2])
    }
}

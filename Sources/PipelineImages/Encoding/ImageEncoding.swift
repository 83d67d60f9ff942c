import Pipeline

/// Makes a file of pixels. Runs on a thread that may block.
protocol ImageEncoding {
    /// - Parameters:
    ///   - image: the pixels; formats without motion take the first frame.
    ///   - quality: 1 to 100; formats without loss have no use for it.
    ///   - metadata: what is written beside the pixels, where the format has a place for it.
    ///   - cancellation: looked at every few milliseconds.
    /// - Throws: `LoadError.Code.unencodable`; `CancellationError`.
    func encode(
        _ image: DecodedImage, quality: Int, metadata: EmbeddedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8]
}

extension EncodeOptions {
    /// The encoder of a format.
    /// - Throws: `LoadError.Code.unencodable` if there is none.
    func encoder(for format: ImageFormat) throws(LoadError) -> any ImageEncoding {
        switch format {
        case .jpeg: JPEGEncoder(options: jpeg)
        case .png: PNGEncoder(options: png)
        case .webp: WebPEncoder(options: webp)
        case .avif: AVIFEncoder(options: avif)
        case .gif: GIFEncoder(options: gif)
        case .tiff: TIFFEncoder(options: tiff)
        default: throw LoadError(.unencodable, subject: "", "There is no encoder for \(format).")
        }
    }
}

extension ImageFormat {
    /// The most pixels that a side of a picture may have.
    var longestSide: Int {
        switch self {
        case .jpeg: 65_500
        case .webp: 16_383
        case .gif: 65_535
        case .avif: 16_384
        default: 10_000_000
        }
    }

    /// Refuses what the format can't hold.
    func check(_ size: PixelSize) throws(LoadError) {
        guard min(size.width, size.height) > 0 else {
            throw LoadError(.unencodable, subject: "", "A picture of \(size) has no pixels to be written as \(self).")
        }
        guard max(size.width, size.height) > longestSide else { return }
        throw LoadError(
            .unencodable, subject: "",
            "A picture of \(size) can't be written as \(self), which has at most \(longestSide) pixels a side; set "
                + "maxPixelSize or choose another format.")
    }
}

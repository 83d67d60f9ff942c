import Stages

/// The options of the QOI encoder.
public struct QOIOptions: Sendable, Hashable {
    /// Whether transparency is written; `true` by default. Without it, files are smaller.
    public var hasAlpha = true
}

extension EncodeOptions {
    /// The options of the QOI encoder.
    public var qoi: QOIOptions {
        get { self[QOIEncoder().defaults] }
        set { self[QOIEncoder().defaults] = newValue }
    }
}

/// Encodes QOI, which keeps every pixel.
struct QOIEncoder: ImageEncoding {
    let defaults = QOIOptions()

    func fidelity(_ options: QOIOptions) -> Fidelity { options.hasAlpha ? .exact : .fixed }

    func values(of options: QOIOptions) -> [(name: String, value: String)] { [("alpha", "\(options.hasAlpha)")] }

    func encode(
        _ image: DecodedImage, quality: Int, options: QOIOptions, metadata: EmbeddedMetadata,
        cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let hasAlpha = image.layout.hasAlpha && options.hasAlpha
        var writer = QOIWriter(width: image.width, height: image.height, hasAlpha: hasAlpha)
        try image.withPixels { pixels in
            let channels = image.layout.channelCount
            for place in stride(from: 0, to: pixels.count, by: channels) {
                if place % (image.width * channels) == 0 { try cancellation.check() }
                let isGray = channels < 3
                writer.write(
                    QOIPixel(
                        red: pixels[place], green: pixels[isGray ? place : place + 1],
                        blue: pixels[isGray ? place : place + 2], alpha: hasAlpha ? pixels[place + 3] : 255))
            }
        }
        return writer.finish()
    }
}

public import Pipeline

/// Decodes TIFF with libvips; a picture that is one JPEG, as cameras and scanners write it, as a JPEG: libtiff decodes such
/// a strip in one go, which can't be stopped.
public struct TIFFDecoder: ImageDecoding {
    /// TIFF.
    public let formats: Set<ImageFormat> = [.tiff]

    private let others = VipsDecoder()
    private let jpeg = JPEGDecoder()

    /// Makes a decoder.
    public init() {}

    /// Opens the file without decoding a pixel.
    public func header(
        of bytes: [UInt8], format: ImageFormat, cancellation: WorkCancellation
    ) throws -> ImageHeader {
        try others.header(of: bytes, format: format, cancellation: cancellation)
    }

    /// Decodes at the exact size that fits the box.
    public func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        guard let strip = TIFFStrip(bytes),
            let inner = try? jpeg.header(of: strip.jpeg, format: .jpeg, cancellation: cancellation),
            inner.storedSize == header.storedSize
        else {
            return try others.decode(bytes, header: header, box: box, options: options, cancellation: cancellation)
        }
        return try jpeg.decode(strip.jpeg, header: header, box: box, options: options, cancellation: cancellation)
            .converted(from: strip.profile, cancellation: cancellation)
    }
}

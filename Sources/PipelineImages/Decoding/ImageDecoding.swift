public import Pipeline

/// Turns the bytes of some formats into pixels. A type of your own adds a format; register it with
/// ``ImageDecoders/adding(_:)``.
///
/// Both calls run on a thread that may block. Neither may trust the bytes: whatever they are, the answer is an error or
/// a picture. Errors need no subject: `Decode` says which image it was.
public protocol ImageDecoding: Sendable {
    /// The formats that this decoder is for.
    var formats: Set<ImageFormat> { get }

    /// Reads what the file says of its picture, without decoding a pixel.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - format: the format by the file's first bytes, one of ``formats``.
    ///   - cancellation: to be looked at every few milliseconds.
    /// - Throws: `LoadError.Code.undecodable` if the header makes no sense.
    func header(of bytes: [UInt8], format: ImageFormat, cancellation: WorkCancellation) throws -> ImageHeader

    /// Decodes the picture: upright, in sRGB, 8 bits a channel, straight alpha, with the source's upright size as
    /// `nativeSize`.
    ///
    /// The result is no larger than need be, and never smaller than the picture's fit into `box`: `Downscale` makes it
    /// exact. So a decoder reduces as it reads where that is cheaper.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - header: what ``header(of:format:cancellation:)`` gave; its size has passed the limits.
    ///   - box: what the picture has to fit in the end, in upright pixels; `nil` for the source's own size.
    ///   - options: what the list's `Decode` was told.
    ///   - cancellation: to be looked at every few milliseconds.
    /// - Throws: `LoadError.Code.undecodable` if the file is damaged or cut off; `CancellationError`.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage
}

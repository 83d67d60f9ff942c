public import Pipeline

/// Turns the files of one format into pixels. A type of your own adds a format, as part of an ``ImageCodec``.
///
/// All calls run on a thread that may block. None may trust the bytes: whatever they are, the result is an error or a picture.
/// Errors need no subject: `Decode` says which image it was.
public protocol ImageDecoding: Sendable {
    /// Whether ``decode(_:header:box:options:cancellation:)`` ends soon after its cancellation; `true` by default. A load that
    /// is cancelled or out of time doesn't wait for a decoder that can't be stopped. The call ends later, on its thread, and
    /// its memory stays counted until then.
    var canBeStopped: Bool { get }
    /// Whether a picture can be made of a file's beginning, as a preview while the rest arrives; `false` by default.
    var showsBeginnings: Bool { get }

    /// Reads what the file says of its picture, without decoding a pixel.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - cancellation: to be looked at every few milliseconds.
    /// - Throws: `LoadError.Code.undecodable` if the header makes no sense.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader

    /// Decodes the picture: upright, in sRGB, 8 bits a channel, straight alpha, with the source's upright size as
    /// `nativeSize`.
    ///
    /// The result is no larger than need be, and never smaller than the picture's fit into `box`: `Downscale` makes it
    /// exact. So a decoder reduces as it reads where that is cheaper.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - header: what ``header(of:cancellation:)`` gave; its size has passed the limits. Where it has a
    ///     ``ImageHeader/region``, the result is exactly that part, and says so in its `region`.
    ///   - box: what the picture, or the part of it, has to fit in the end, in upright pixels; `nil` for the source's own size.
    ///   - options: what the list's `Decode` was told.
    ///   - cancellation: to be looked at every few milliseconds.
    /// - Throws: `LoadError.Code.undecodable` if the file is damaged or cut off; `CancellationError`.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage

    /// Reads the blocks of metadata in a file, without decoding a pixel; by default there are none. A block that can't be read
    /// counts as missing.
    /// - Throws: `LoadError.Code.undecodable` if the file makes no sense; `CancellationError`.
    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata
}

extension ImageDecoding {
    /// `true`.
    public var canBeStopped: Bool { true }
    /// `false`.
    public var showsBeginnings: Bool { false }
    /// Finds no metadata.
    public func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        EmbeddedMetadata()
    }
}

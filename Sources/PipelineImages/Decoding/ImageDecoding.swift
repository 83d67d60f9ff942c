public import Pipeline

/// Turns the files of one format into pixels. A type of your own adds a format, as part of an ``ImageCodec``.
///
/// All calls run on a thread that may block. None may trust the bytes: the result is always an error or a picture.
/// Errors need no subject; the pipeline adds it.
public protocol ImageDecoding: Sendable {
    /// Whether ``decode(_:header:box:options:cancellation:)`` ends soon after its cancellation; `true` by default. A
    /// load that is cancelled or out of time doesn't wait for a decoder that can't be stopped. The call ends later, on
    /// its thread, and its memory stays counted until then.
    var canBeStopped: Bool { get }
    /// Whether the beginning of a file can be decoded, as a preview while the rest arrives; `false` by default.
    var showsBeginnings: Bool { get }

    /// Loads what the decoder needs, such as a library that is otherwise opened by the first decode; does nothing by
    /// default. A process that decodes in isolation calls it once, before it gives up its access to files. What is
    /// missing is reported by the other calls.
    func prepare()

    /// Reads a file's header without decoding a pixel.
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - cancellation: To be checked every few milliseconds.
    /// - Throws: `LoadError.Code.undecodable` if the header is invalid.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader

    /// Decodes the picture: upright, in sRGB, 8 bits a channel, straight alpha, with the source's upright size as
    /// `nativeSize`.
    ///
    /// The result is never smaller than the picture fitted into `box`, nor larger than the picture; any other result
    /// fails the load with `LoadError.Code.stageContract`. It may be larger than the box, since `Downscale` makes it
    /// exact, but a decoder should reduce as it reads where that is cheaper. Make it with
    /// `DecodedImage.init(validating:size:layout:nativeSize:region:)`: the initializers that don't throw end the program
    /// if the numbers of a damaged file don't match.
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - header: The result of ``header(of:cancellation:)``; its size is within the limits. If it has a
    ///     ``ImageHeader/region``, the result is exactly that part, with the same `region`.
    ///   - box: What the picture, or its region, will finally be fitted into, in upright pixels; `nil` for the source's
    ///     size.
    ///   - options: The options of the list's `Decode`.
    ///   - cancellation: To be checked every few milliseconds.
    /// - Throws: `LoadError.Code.undecodable` if the file is damaged or cut off; `CancellationError`.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage

    /// Reads the blocks of metadata in a file, without decoding a pixel; by default it finds none. A block that can't
    /// be read counts as missing.
    /// - Throws: `LoadError.Code.undecodable` if the file is invalid; `CancellationError`.
    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata
}

extension ImageDecoding {
    /// `true`.
    public var canBeStopped: Bool { true }
    /// `false`.
    public var showsBeginnings: Bool { false }
    /// Does nothing.
    public func prepare() {}
    /// Finds no metadata.
    public func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        EmbeddedMetadata()
    }
}

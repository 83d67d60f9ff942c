public import Pipeline

/// The file that a load's pixels were decoded from. A stage that decodes leaves it for ``Encode``, which keeps the file's
/// metadata, and for the transforms, which keep its time limit.
public struct DecodedSource: LoadAttachment {
    /// The file.
    public let file: EncodedImage
    /// The file's format, by its bytes.
    public let format: ImageFormat
    /// How long each stage that works on the pixels may take; `nil`, the default, for no limit.
    public let timeLimit: Duration?

    /// Reads the file's metadata; `nil` for the decoder of its format in ``Encode``'s codecs.
    var decoder: (any ImageDecoding)?

    /// Describes a file.
    public init(file: EncodedImage, format: ImageFormat, timeLimit: Duration? = nil) {
        self.file = file
        self.format = format
        self.timeLimit = timeLimit
    }
}

extension Load {
    /// Limits the time of one stage's work on the pixels as the list's `Decode` was told; pixels of another source have no
    /// limit.
    var limitingTime: @Sendable (WorkCancellation) -> WorkCancellation {
        let (limit, clock) = (attachment(DecodedSource.self)?.timeLimit, clock)
        return { $0.limited(to: limit, by: clock) }
    }
}

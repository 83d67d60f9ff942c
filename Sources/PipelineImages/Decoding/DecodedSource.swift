import Pipeline

/// The file that a load's pixels were decoded from, for what a later stage wants to know of it besides.
struct DecodedSource: LoadAttachment {
    let file: EncodedImage
    /// By its bytes.
    let format: ImageFormat
    /// How long each stage that works on the pixels may take.
    var timeLimit: Duration?
}

extension Load {
    /// Limits the time of one stage's work on the pixels as the list's `Decode` was told; pixels of another source have no
    /// limit.
    var limitingTime: @Sendable (WorkCancellation) -> WorkCancellation {
        let (limit, clock) = (attachment(DecodedSource.self)?.timeLimit, clock)
        return { $0.limited(to: limit, by: clock) }
    }
}

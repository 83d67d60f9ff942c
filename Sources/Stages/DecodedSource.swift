import Pipeline

/// The file that a load's pixels were decoded from, for what a later stage wants to know of it besides.
struct DecodedSource: LoadAttachment {
    let file: EncodedImage
    /// By its bytes.
    let format: ImageFormat
}

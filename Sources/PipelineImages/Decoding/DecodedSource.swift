package import Pipeline

/// The file that a load's pixels were decoded from. A stage that decodes attaches it to the load. ``Encode`` takes the
/// file's metadata from it, and transforms observe its time limit.
package struct DecodedSource: LoadAttachment {
    /// The file.
    package let file: EncodedImage
    /// The file's format, by its bytes.
    package let format: ImageFormat
    /// How long all work on the load may take together: reading, decoding, transforms and encoding; `nil`, the default,
    /// for no limit.
    package let timeLimit: Duration?

    /// Reads the file's metadata; `nil` for the decoder of its format in ``Encode``'s codecs.
    var decoder: (any ImageDecoding)?
    /// The budget of the list's `Decode`, which later stages share.
    var budget: MemoryBudget?

    /// Describes a file.
    package init(file: EncodedImage, format: ImageFormat, timeLimit: Duration? = nil) {
        self.file = file
        self.format = format
        self.timeLimit = timeLimit
    }
}

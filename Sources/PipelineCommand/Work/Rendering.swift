import Pipeline

/// One result of a job, not yet written.
struct Rendering: Sendable {
    /// `nil` where there is nothing to write.
    let target: OutputTarget?
    let image: EncodedImage
    /// Where the source's bytes came from.
    var source: LoadSource = .file
    var trace = Trace()
}

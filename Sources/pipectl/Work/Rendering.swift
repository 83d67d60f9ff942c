import Pipeline

/// One result of a job, not yet written.
struct Rendering: Sendable {
    let target: OutputTarget
    let image: EncodedImage
    /// Where the source's bytes came from.
    var source: LoadSource = .file
    var trace = Trace()
}

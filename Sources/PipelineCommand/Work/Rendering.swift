import Pipeline

/// One result of a job, not yet written.
struct Rendering: Sendable {
    /// `nil` if there is nothing to write.
    let target: OutputTarget?
    var image = EncodedImage(bytes: [])
    /// How its source was loaded.
    let response: LoadResponse
}

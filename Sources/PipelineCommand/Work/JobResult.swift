import Pipeline

/// What became of a job.
struct JobResult: Sendable {
    /// A file that was written.
    struct Written: Sendable {
        /// `nil` for standard output.
        let path: String?
        let bytes: Int
        let size: PixelSize?
    }

    enum Outcome: Sendable {
        case done([Written])
        case skipped(String)
        case failed(LoadError)
    }

    let job: Job
    let outcome: Outcome
    var source: LoadSource?
    var nativeSize: PixelSize?
    /// The bytes of the source's file, where it is one.
    var bytesIn: Int?
    var duration = Duration.zero
    var trace = Trace()
}

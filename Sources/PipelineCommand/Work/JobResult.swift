import Pipeline

/// The outcome of a job.
struct JobResult: Sendable {
    /// A file that was written.
    struct Written: Sendable {
        /// `nil` for standard output.
        let path: String?
        let bytes: Int
        let size: PixelSize?
        let format: ImageFormat
    }

    enum Outcome: Sendable {
        case done([Written])
        case skipped(String)
        case failed(LoadError)
    }

    let job: Job
    let outcome: Outcome
    /// How the source was loaded.
    var response: LoadResponse?
    /// The number of bytes of the source's file, if it is one.
    var bytesIn: Int?
    var duration = Duration.zero

    /// Where the source came from; `nil` if it wasn't loaded.
    var source: String? {
        // A batch reads its files itself, for their digests.
        response.map { job.file == nil ? $0.source.rawValue : LoadSource.file.rawValue }
    }

    /// What happened, stage by stage.
    var trace: Trace {
        if case .failed(let error) = outcome { error.trace } else { response?.trace ?? Trace() }
    }
}

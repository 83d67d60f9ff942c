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
    var trace: Trace { error?.trace ?? response?.trace ?? Trace() }

    /// The files that were written; none unless it was done.
    var written: [Written] { if case .done(let written) = outcome { written } else { [] } }

    /// Why it was skipped; `nil` unless it was.
    var reason: String? { if case .skipped(let reason) = outcome { reason } else { nil } }

    /// Why it failed; `nil` unless it did.
    var error: LoadError? { if case .failed(let error) = outcome { error } else { nil } }

    /// The outcome as reports name it.
    var status: String { error != nil ? "failed" : reason != nil ? "skipped" : "done" }
}

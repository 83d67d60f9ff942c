import LibC
import Pipeline
import Stages

/// One source of a run and where its results go.
struct Job: Sendable {
    /// The argument, or a file from a folder or list.
    let input: String
    /// The results; an error if there can be none.
    let targets: Result<[OutputTarget], LoadError>

    /// Whether an earlier job has the same input and results.
    let isRepeated: Bool

    /// The source's path, if it is a file.
    private let path: String?

    init(input: String, targets: Result<[OutputTarget], LoadError>, isRepeated: Bool = false) {
        self.input = input
        path = if input != "-", case .file(let path)? = try? ImageSource(argument: input) { path } else { nil }
        self.targets = targets
        self.isRepeated = isRepeated
    }

    /// A source that is only read.
    init(reading input: String) { self.init(input: input, targets: .success([])) }

    /// What the system says about the source now, if it is a file.
    var file: FileFacts? { path.flatMap { FileFacts($0) } }

    /// Whether it is a file that doesn't exist.
    var isMissing: Bool { path != nil && file == nil && (errno == ENOENT || errno == ENOTDIR) }

    /// The input without credentials or query values, for messages.
    var shown: String {
        input == "-" ? "standard input" : (try? ImageSource(parsing: input).redacted) ?? printable(input)
    }

    /// Does work whose errors name the job's input, since bytes that were read before have no name.
    func naming<Value>(_ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch let error as LoadError { throw error.named(self) }
    }
}

extension LoadError {
    /// The same error with the job's input as its subject, since bytes that were read before have no name.
    func named(_ job: Job) -> LoadError {
        guard subject.isEmpty || subject.hasPrefix("(") else { return self }
        var error = LoadError(
            code, subject: job.shown, message, httpStatus: httpStatus, retryAfter: retryAfter, underlying: underlying)
        error.stage = stage
        error.trace = trace
        return error
    }
}

extension ImageSource {
    /// Reads a file, or bytes that are there.
    func response(limit: Int = ImageLimits().encodedBytes) async throws -> LoadResponse {
        let pipeline = ImagePipeline {
            ReadInline()
            ReadFile(byteLimit: limit)
        }
        return try await pipeline.load(ImageRequest(self))
    }
}

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
    /// What became of its provenance; `nil` if it had none.
    var provenance: ProvenanceOutcome?
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

/// One result of a job, not yet written.
struct Rendering: Sendable {
    /// `nil` if there is nothing to write.
    let target: OutputTarget?
    var image = EncodedImage(bytes: [])
    /// How its source was loaded.
    let response: LoadResponse
    /// What became of the source's provenance; `nil` if it had none.
    var provenance: ProvenanceOutcome?
}

extension Rendering {
    /// Encodes pixels for a target.
    /// - Parameters:
    ///   - response: How the pixels' source was loaded; `nil` for pixels without one.
    ///   - body: The stages that make and change the pixels.
    init(
        _ target: OutputTarget, options: EncodeOptions = EncodeOptions(), from response: LoadResponse? = nil,
        @ChainBuilder _ body: () -> Chain
    ) async throws {
        let pipeline = ImagePipeline {
            body()
            Encode(target.format, options: options, codecs: Formats.codecs)
        }
        let made = try await pipeline.load(ImageRequest(.bytes([])))
        self.init(target: target, image: made.encoded ?? EncodedImage(bytes: []), response: response ?? made)
    }
}

extension [OutputTarget] {
    /// Makes the results one after the other.
    func eachRendering(_ make: (OutputTarget) async throws -> Rendering) async throws -> [Rendering] {
        var renderings: [Rendering] = []
        for target in self { renderings.append(try await make(target)) }
        return renderings
    }
}

/// Counts jobs by their outcome, and their bytes.
struct WorkCounts: Sendable, Hashable {
    var done = 0
    var skipped = 0
    var failed = 0
    var bytesIn = 0
    var bytesOut = 0

    /// The number of jobs that have ended.
    var finished: Int { done + skipped + failed }

    mutating func add(_ result: JobResult) {
        switch result.outcome {
        case .skipped: skipped += 1
        case .failed: failed += 1
        case .done(let written):
            done += 1
            bytesIn += result.bytesIn ?? 0
            bytesOut += written.reduce(0) { $0 + $1.bytes }
        }
    }
}

import Pipeline
import Stages

extension WorkRun {
    /// Writes the results of one job, and records them in the journal.
    func write(
        _ renderings: [Rendering], _ key: BLAKE2bDigest?, _ job: Job, _ file: FileFacts?,
        _ cancellation: WorkCancellation
    ) throws -> [JobResult.Written] {
        let wanted = try renderings.compactMap { rendering -> Output? in
            guard let target = rendering.target else { return nil }
            guard let path = target.path(size: rendering.image.size) else {
                return Output(image: rendering.image, format: target.format)
            }
            return try existing(path, job, rendering.image.bytes, cancellation).map {
                Output(path: path, image: rendering.image, format: target.format, existing: $0)
            }
        }
        if let key, let journal {
            let files = wanted.compactMap { output in output.path.map { ($0, output.image.bytes) } }
            if !files.isEmpty { journal.willWrite(key, job, files) }
        }
        let written = try wanted.filter { try put($0, cancellation) }
        if key != nil { journal?.didWrite(job, file, written.compactMap(\.path)) }
        return written.map {
            JobResult.Written(path: $0.path, bytes: $0.image.bytes.count, size: $0.image.size, format: $0.format)
        }
    }

    /// A result that is about to be written.
    private struct Output {
        /// `nil` for standard output.
        var path: String?
        let image: EncodedImage
        let format: ImageFormat
        var existing = OutputFile.Existing.kept
    }

    /// Writes a result; false if an existing file was kept.
    private func put(_ output: Output, _ cancellation: WorkCancellation) throws -> Bool {
        guard let path = output.path else {
            try StandardOutput.write(image: output.image.bytes)
            return true
        }
        return try OutputFile(path).write(output.image.bytes, existing: output.existing, rule, cancellation)
    }

    /// What may be done to an existing file; `nil` if it is kept.
    /// - Throws: `LoadError` with `outputExists` if no option allows overwriting it.
    private func existing(
        _ path: String, _ job: Job, _ bytes: [UInt8], _ cancellation: WorkCancellation
    ) throws -> OutputFile.Existing? {
        try checkIsNoSource(path, of: job, cancellation)
        switch rule {
        case .overwrite: return .replaced
        case .ifNewer:
            let source = FileFacts(job.input)?.modified ?? .min
            if let facts = FileFacts(path), source <= facts.modified { return nil }
            return .replaced
        case .refuse, .skip:
            guard FileFacts(path)?.kind == .regular else { return .kept }
            if journal?.isOwn(path, job, bytes) == true { return .replaced }
            if rule == .skip { return nil }
            throw journal?.isResuming == true ? OutputFile.differs(path) : OutputFile.exists(path)
        }
    }

    /// Throws if a file is the source of another job.
    func checkIsNoSource(_ path: String, of job: Job, _ cancellation: WorkCancellation) throws {
        guard let isSource, let there = FileFacts(path)?.identity, there != job.file?.identity,
            try isSource(there, cancellation)
        else { return }
        throw LoadError(
            .outputExists, subject: printable(path),
            "The file is also a source of this run, so it isn't overwritten; give another -o.")
    }
}

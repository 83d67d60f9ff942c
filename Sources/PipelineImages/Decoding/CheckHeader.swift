public import Pipeline

/// Looks at the header of the source's bytes without decoding them: that they begin as an image does, and that the image
/// is within the limits. Where nothing is decoded, this is what keeps other things out of the cache.
public struct CheckHeader: Stage {
    /// Bytes of a source.
    public let accepts: Phases = .original
    /// The same bytes.
    public let produces: Phases = .original

    private let codecs: ImageCodecs
    private let limits: ImageLimits
    private let threads: BlockingThreads

    /// Makes the stage.
    /// - Parameters:
    ///   - codecs: The formats that are read; by default ``ImageCodecs/standard``.
    ///   - limits: by default 50 million pixels, 100,000 pixels a side, 64 million bytes, 30 seconds.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(
        codecs: ImageCodecs = .standard, limits: ImageLimits = ImageLimits(), threads: BlockingThreads = .decoding
    ) {
        self.codecs = codecs
        self.limits = limits
        self.threads = threads
    }

    /// Looks.
    /// - Throws: `LoadError` with `undecodable` if the bytes don't begin as an image does, `tooManyBytes` or
    ///   `tooManyPixels`; `CancellationError` if the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .original(let file) = load.content else { return .skipped }
        try limits.check(encodedBytes: file.bytes.count)
        guard let decoder = codecs.codec(of: file.bytes)?.decoder else {
            throw LoadError(.undecodable, subject: "", "The bytes don't begin as an image does.")
        }
        let header = try await threads.run(priority: load.priority) { [limits, clock = load.clock] cancellation in
            let cancellation = cancellation.limited(to: limits.time, by: clock)
            let header = try decoder.header(of: file.bytes, cancellation: cancellation)
            try limits.check(header)
            return header
        }
        load.note("\(header.format), \(header.size)")
        return .done
    }
}

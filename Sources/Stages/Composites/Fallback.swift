import Essentials
public import Pipeline

/// Runs its body, and once more with another source if the load's own can't be loaded: a picture that says so.
///
/// ```swift
/// let patient = ImagePipeline.returnCacheElseLoad(resources).wrapping(from: ResolveIdentifier.self) { all in
///     Fallback(to: .file("missing.png")) { all }
/// }
/// ```
///
/// Wrap the whole list, from `ResolveIdentifier` on: then the fallback has entries of its own in the caches, in each size,
/// and is scaled and encoded as the source would have been. Around fewer stages it replaces what they read, and isn't kept.
/// The load's `isFallback` and its trace tell of it.
///
/// A source can't be loaded if it is missing, can't be reached, isn't a picture, is damaged or is larger than a limit. Other
/// errors are thrown: those of a program's own rules (`refused`, `busy`), of later stages, and cancellation.
public struct Fallback: CompositeStage {
    public var body: Chain
    private let source: ImageSource
    private let maxAge: Duration
    /// What tells it apart from others: of bytes in memory their digest.
    private let key: String

    package static let specification = StageSpecification(
        composite: "fallback", "Runs its stages with another picture if the source can't be loaded.",
        .required("source", .text, "The other picture: a file or a URL.", example: "missing.png"),
        .optional(
            "maxAge", .seconds(0...31_536_000), "How long that result is fresh.", default: .seconds(60), example: "10")
    ) { Fallback(to: try ImageSource(parsing: $1), maxAge: $2, $0) }

    /// Wraps the stages of a list.
    /// - Parameters:
    ///   - source: The picture that stands in.
    ///   - maxAge: How long a result with it is fresh at most, as the response's `freshUntil` says; a minute by default.
    ///     Loads look for the real source each time.
    ///   - body: The stages.
    public init(to source: ImageSource, maxAge: Duration = .seconds(60), @ChainBuilder _ body: () -> Chain) {
        (self.source, self.maxAge, self.body) = (source, maxAge, body())
        key = if case .bytes(let bytes) = source { "\(BLAKE2bDigest(of: bytes))" } else { "\(source)" }
    }

    public var parameters: String { source.redacted }

    public var identity: StageIdentity? { StageIdentity(key, "\(maxAge)") }

    /// Runs the body, and again if it has to.
    /// - Throws: The body's first error.
    public func run(_ load: inout Load) async throws -> Outcome {
        let start = load
        var failure: LoadError?
        do {
            try await body.run(&load)
            // A list without an origin may find nothing.
            guard load.phase == .empty, start.phase == .empty else { return .done }
        } catch let error as LoadError where Self.sourceFailures.contains(error.code) {
            failure = error
        }
        let failed = load
        if try await standsIn(for: failure?.code ?? .notCached, in: &load, from: start) { return .done }
        load.restart(from: failed)
        if let failure { throw failure }
        return .done
    }

    /// Runs the body with the other source.
    /// - Returns: Whether that has led to anything.
    private func standsIn(for code: LoadError.Code, in load: inout Load, from start: Load) async throws -> Bool {
        load.restart(from: start)
        load.detach(MemoryEntry.self)
        load.turn(to: source)
        do {
            try await body.run(&load)
        } catch is LoadError {
            return false
        }
        let end = load.clock.now.addingTimeInterval(maxAge / .seconds(1))
        load.freshUntil = load.freshUntil.map { min($0, end) } ?? end
        load.note("\(code): the fallback stands in")
        return load.phase != .empty
    }

    /// The failures that are the source's.
    private static let sourceFailures: Set<LoadError.Code> = [
        .notCached, .invalidURL, .unsupportedScheme, .fileNotFound, .fileUnreadable, .unreachable, .timedOut,
        .httpStatus, .malformedResponse, .tooManyBytes, .tooManyPixels, .tooMuchMemory, .tooMuchTime, .unsupportedType,
        .undecodable,
    ]
}

/// A stage written where it is used.
///
/// ```swift
/// let refusing = pipeline.inserting(
///     ClosureStage("RefuseTrackers", accepts: .empty) { load in
///         guard case .url(let url) = load.request.source, url.host() == "tracker.example" else { return .skipped }
///         throw LoadError(.refused, subject: load.subject, "The host is on the block list.")
///     }, before: Fetch.self)
/// ```
public struct ClosureStage: Stage {
    /// What it does to one load; see ``Stage/run(_:)``.
    public typealias Work = @Sendable (inout Load) async throws -> Outcome

    public let name: String
    public let accepts: Phases
    /// The phases that it can leave a load in.
    public let produces: Phases
    /// What it does to the pixels, if anything.
    public let signature: String?
    public let identifies: Bool
    private let work: Work
    private let mark = CopyMark()

    /// Makes a stage of a closure.
    /// - Parameters:
    ///   - name: the name in printed lists, traces and errors.
    ///   - accepts: the phases in which it has work; by default `.empty`, in which nothing has been found yet.
    ///   - produces: the phases that it can leave a load in; by default those that it accepts and every later one.
    ///   - signature: names what it does to the pixels, with every parameter; `nil`, the default, if it leaves them
    ///     alone.
    ///   - identifies: whether it settles the load's keys with ``Load/identify(as:)``; by default it doesn't.
    ///   - work: what it does to one load.
    public init(
        _ name: String, accepts: Phases = .empty, produces: Phases? = nil, signature: String? = nil,
        identifies: Bool = false, _ work: @escaping Work
    ) {
        self.name = name
        self.accepts = accepts
        self.produces = produces ?? accepts.andLater
        self.signature = signature
        self.identifies = identifies
        self.work = work
    }

    public var identity: StageIdentity? { StageIdentity(over: [mark]) }

    public func run(_ load: inout Load) async throws -> Outcome { try await work(&load) }
}

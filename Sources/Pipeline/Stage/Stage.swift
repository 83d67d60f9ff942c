/// One step of a pipeline.
///
/// A stage looks at a load, does one thing, moves the load forward with ``Load/advance(to:from:)`` where it has a
/// result, and returns how it went. It never decides what runs next: the list does.
///
/// ```swift
/// struct RefuseTracker: Stage {
///     let accepts: Phases = .empty
///     func run(_ load: inout Load) async throws -> Outcome {
///         guard case .url(let url) = load.request.source, url.host() == "tracker.example" else { return .skipped }
///         throw LoadError(.refused, subject: load.subject, "the host is on the block list")
///     }
/// }
/// ```
public protocol Stage: Sendable {
    /// The phases in which this stage has work to do; in any other the pipeline does not call it.
    var accepts: Phases { get }

    /// The phases in which a load can be after this stage has run.
    ///
    /// By default those that it ``accepts`` and every later one. A stage that always moves the load on says so here, so
    /// that a list with a stage that can never run is refused when it is built.
    var produces: Phases { get }

    /// The states of the load's ``Load/response`` in which the stage has work to do; by default every state.
    ///
    /// A list that reaches none of them before the stage is refused when it is built. While the list runs, the stage is
    /// called in any state.
    var needs: Set<ResponseState.Kind> { get }

    /// The states in which the stage can leave the load's ``Load/response``, besides the one in which it found it.
    ///
    /// By default every state for a stage that takes a load from nothing to the source's bytes, and none for any other.
    /// A fetcher names ``ResponseState/Kind/fetched`` and ``ResponseState/Kind/confirmed``; its request is then reported as
    /// soon as it waits. See ``LoadEvent``.
    var leaves: Set<ResponseState.Kind> { get }

    /// Names what the stage does to the pixels, with its parameters; part of the variant's key. `nil`, the default, if
    /// it leaves them alone.
    var signature: String? { get }

    /// Whether the stage makes the same of a result that it has made, in a larger size, as of the original; `false` by
    /// default. See `FromLargerVariant`.
    var isIdempotent: Bool { get }

    /// What the stage is compared by; `nil`, the default, if it is like no other.
    ///
    /// Loads of lists that were built separately share their work if all stages say that they do the same. A list with a
    /// stage that doesn't say so shares work with its copies alone. A composite doesn't name its body, which the list
    /// compares by itself.
    var identity: StageIdentity? { get }

    /// Whether the stage settles the load's keys with ``Load/identify(as:)``, as `ResolveIdentifier` does; by default it
    /// doesn't.
    var identifies: Bool { get }

    /// Whether the stage looks up, stores or shares by the load's keys. A list in which no earlier stage settles them is
    /// refused when it is built. By default it doesn't.
    var needsIdentity: Bool { get }

    /// Whether the stage may ask the origin; a guard ``ListPlace/beforeOrigin`` stands before it.
    ///
    /// By default a stage that can leave a fetched response may, and a composite doesn't: the stages of its body do. A
    /// lookup or guard of your own says `false` here, or says what it ``produces``.
    var asksOrigin: Bool { get }

    /// Whether the stage stores the load's result; an edit ``ListPlace/beforeStore`` stands before it. By default it
    /// doesn't.
    var storesResult: Bool { get }

    /// The name in printed lists, traces and errors; by default the type's.
    var name: String { get }

    /// The text in parentheses when the stage is printed, such as `0.5 s`; by default nothing.
    var parameters: String { get }

    /// Does the stage's work on one load.
    /// - Throws: ``LoadError``, or any error, which the pipeline then reports as this stage's;
    ///   `CancellationError` if the task is cancelled.
    nonisolated(nonsending) func run(_ load: inout Load) async throws -> Outcome
}

extension Stage {
    /// The accepted phases and every later one.
    public var produces: Phases { accepts.andLater }

    /// Every state.
    public var needs: Set<ResponseState.Kind> { Set(ResponseState.Kind.allCases) }

    /// Every state for a stage that finds the source's bytes, none for any other.
    public var leaves: Set<ResponseState.Kind> {
        accepts.contains(Phase.empty) && produces.contains(Phase.original) ? Set(ResponseState.Kind.allCases) : []
    }

    /// Nothing is done to the pixels.
    public var signature: String? { nil }

    /// The original is needed.
    public var isIdempotent: Bool { false }

    /// The stage is like no other.
    public var identity: StageIdentity? { nil }

    /// No keys are settled.
    public var identifies: Bool { false }

    /// No keys are needed.
    public var needsIdentity: Bool { false }

    /// `true` for a stage that can leave a fetched response.
    public var asksOrigin: Bool {
        accepts.contains(Phase.empty) && produces.contains(Phase.original) && leaves.contains(.fetched)
    }

    /// Nothing is stored.
    public var storesResult: Bool { false }

    /// The type's name.
    public var name: String { String(describing: Self.self) }

    /// Nothing between the parentheses.
    public var parameters: String { "" }
}

/// A stage that wraps other stages: it decides how its body runs, not what is in it.
///
/// `Coalesce { … }`, `Retry { … }` and `Timeout { … }` are composites. Run the body with ``Chain/run(_:)``; a load only
/// moves forward, so a composite that runs its body again restores a copy with ``Load/restart(from:)``.
public protocol CompositeStage: Stage {
    /// The wrapped list. It can be edited through the pipeline that holds it.
    var body: Chain { get set }

    /// Whether the stages of the body are alternatives, each of which begins where the composite does, rather than
    /// steps one after the other; `false` by default.
    var hasAlternatives: Bool { get }
}

extension CompositeStage {
    public var accepts: Phases { body.accepts }

    /// The phases that the body can end in.
    public var produces: Phases { body.outcomes(from: body.accepts) }

    /// The states in which any stage of the body can leave a load's response.
    public var leaves: Set<ResponseState.Kind> { body.leaves }

    /// `false`: the stages of the body are steps.
    public var hasAlternatives: Bool { false }
}

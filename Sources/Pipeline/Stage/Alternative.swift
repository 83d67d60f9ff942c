/// Groups several stages into one alternative of a composite whose stages are alternatives, such as `FirstOf`.
public struct Alternative: CompositeStage {
    public var body: Chain

    package static let specification = StageSpecification(
        composite: "alternative", "Groups several stages into one alternative.", make: Alternative.init)

    /// Groups stages.
    public init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    init(_ elements: [Chain.Element]) { body = Chain(elements) }

    public var identity: StageIdentity? { StageIdentity() }

    public func run(_ load: inout Load) async throws -> Outcome {
        try await body.run(&load)
        return .done
    }
}

/// Builds a ``Chain`` from stages written one per line, with `if`, `if let`, `switch` and `for`.
@resultBuilder
public enum ChainBuilder {
    /// A stage.
    public static func buildExpression(_ stage: any Stage) -> [any Stage] { [stage] }

    /// The stages of a list made elsewhere.
    public static func buildExpression(_ chain: Chain) -> [any Stage] { chain.stages }

    /// Stages made elsewhere.
    public static func buildExpression(_ stages: [any Stage]) -> [any Stage] { stages }

    /// Lines one below the other.
    public static func buildBlock(_ parts: [any Stage]...) -> [any Stage] { parts.flatMap { $0 } }

    /// An `if` without `else`.
    public static func buildOptional(_ part: [any Stage]?) -> [any Stage] { part ?? [] }

    /// The first branch.
    public static func buildEither(first part: [any Stage]) -> [any Stage] { part }

    /// The second branch.
    public static func buildEither(second part: [any Stage]) -> [any Stage] { part }

    /// A loop.
    public static func buildArray(_ parts: [[any Stage]]) -> [any Stage] { parts.flatMap { $0 } }

    /// The whole list.
    public static func buildFinalResult(_ stages: [any Stage]) -> Chain { Chain(stages) }
}

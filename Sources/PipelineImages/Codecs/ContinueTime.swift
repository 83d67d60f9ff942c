package import Pipeline

/// Begins a list with the working time of an earlier load, so that both share one limit.
package struct ContinueTime: Stage {
    private let used: Duration
    private let limit: Duration?

    /// - Parameters:
    ///   - used: The working time of the earlier load.
    ///   - limit: The time that all work on pixels that a list was given may take; a `Decode` has its own limit.
    package init(_ used: Duration = .zero, within limit: Duration? = nil) {
        self.used = used
        self.limit = limit
    }

    package var accepts: Phases { .empty }
    package var produces: Phases { .empty }

    package func run(_ load: inout Load) async throws -> Outcome {
        load.workTime += used
        load.workLimit = limit
        return .done
    }
}

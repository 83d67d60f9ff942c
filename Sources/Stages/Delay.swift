public import Pipeline

/// Waits before the list continues, so that an image that scrolls by quickly costs nothing.
public struct Delay: Stage {
    private let duration: Duration

    package static let specification = StageSpecification(
        "delay", "Waits before the next stages.",
        .required("seconds", .seconds(0...86_400), "How long to wait.", example: "0.1"), make: Delay.init)

    /// Waits for `duration` by the pipeline's clock.
    public init(_ duration: Duration) { self.duration = duration }

    /// Nothing found yet. A load that has found its image isn't delayed, nor one that follows a redirect.
    public var accepts: Phases { .empty }

    public var produces: Phases { .empty }

    public var parameters: String { "\(duration.seconds) s" }

    public var identity: StageIdentity? { StageIdentity("\(duration)") }

    /// Waits.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        // It has waited for the URL that it began with.
        guard !load.isRedirected else { return .skipped }
        try await load.clock.sleep(for: duration)
        return .done
    }
}

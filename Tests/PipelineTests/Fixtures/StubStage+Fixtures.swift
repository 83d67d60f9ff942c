import Pipeline
import PipelineTesting

extension StubStage {
    /// Finds nothing, as a cache without the image does.
    static func missing(_ name: String, accepts: Phases = .empty) -> StubStage {
        StubStage(name, accepts: accepts, produces: accepts) { _ in .miss }
    }

    /// Does nothing, in the given phases.
    static func idle(_ name: String, accepts: Phases) -> StubStage {
        StubStage(name, accepts: accepts, produces: accepts) { _ in .done }
    }

    /// Takes the load to `content`. Signed where it replaces pixels or bytes.
    static func giving(
        _ name: String, accepts: Phases = .empty, _ content: LoadContent, from source: LoadSource? = .network,
        outcome: Outcome = .done, isSigned: Bool = true
    ) -> StubStage {
        let signature = isSigned && accepts.contains(content.phase) ? name : nil
        return StubStage(name, accepts: accepts, produces: Phases(content.phase), signature: signature) { load in
            load.advance(to: content, from: source)
            return outcome
        }
    }

    /// Fails.
    static func failing(_ name: String, accepts: Phases = .empty, _ error: any Error) -> StubStage {
        StubStage(name, accepts: accepts) { _ in throw error }
    }
}

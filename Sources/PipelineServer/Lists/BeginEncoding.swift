import Pipeline
import Synchronization

/// Notes that an encode begins, for the time that work takes after its client has gone.
struct BeginEncoding: Stage {
    let accepts: Phases = .decoded
    let produces: Phases = .decoded

    func run(_ load: inout Load) async throws -> Outcome {
        ClientWork.current?.hasBegunToEncode.store(true, ordering: .relaxed)
        return .skipped
    }
}

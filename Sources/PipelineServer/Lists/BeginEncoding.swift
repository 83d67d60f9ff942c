import Pipeline
import Synchronization

/// Notes that an encode begins, for the time that work takes after its client has gone.
struct BeginEncoding: Stage, ColorKeeping {
    let accepts: Phases = .decoded
    let produces: Phases = .decoded
    let keepsColors = true
    let keepsDepth = true
    let keepsHDR = true
    let keepsGainMap = true

    func run(_ load: inout Load) async throws -> Outcome {
        ClientWork.current?.hasBegunToEncode.store(true, ordering: .relaxed)
        return .skipped
    }
}

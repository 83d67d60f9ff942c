import Stages
import Synchronization

/// The work for one request.
final class ClientWork: Sendable {
    /// The work that the task belongs to; that of the first request, where several wait for one load.
    @TaskLocal static var current: ClientWork?

    /// Whether an encode has begun. Not every encoder can be stopped, so such work may end late.
    let hasBegunToEncode = Atomic<Bool>(false)
    /// Whether it has a result or an error.
    let hasEnded = Atomic<Bool>(false)
}

/// Notes that an encode begins, for the time that work takes after its client has gone.
struct BeginEncoding: Stage {
    let accepts: Phases = .decoded
    let produces: Phases = .decoded

    func run(_ load: inout Load) async throws -> Outcome {
        ClientWork.current?.hasBegunToEncode.store(true, ordering: .relaxed)
        return .skipped
    }
}

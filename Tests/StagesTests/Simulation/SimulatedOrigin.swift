import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages

/// An origin in memory that is slow and at fault by chance.
struct SimulatedOrigin: TransferClient {
    let world: SimulatedWorld

    func send(_ request: TransferRequest) async throws -> TransferResponse {
        let number = world.number(request.url)
        let use = Use(world, number)
        return try await withTaskCancellationHandler {
            try await world.clock.sleep(for: .milliseconds(world.chance(0..<300)))
            switch world.chance(0..<20) {
            case 0:
                use.finish()
                throw LoadError(.unreachable, subject: "", "The line is cut.")
            case 1:
                use.finish()
                return TransferResponse(status: 503, headers: [:], url: request.url, body: TransferBody([]))
            default: break
            }
            let content = world.chance(0..<25) == 0 ? [] : [UInt8(number)]
            let rest = Lock([content, []].filter { !$0.isEmpty })
            return TransferResponse(
                status: 200, headers: [:], url: request.url,
                body: TransferBody {
                    use.goOn()
                    try await withTaskCancellationHandler {
                        try await world.clock.sleep(for: .milliseconds(world.chance(0..<100)))
                    } onCancel: {
                        use.end()
                    }
                    let chunk = rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                    if chunk == nil { use.finish() }
                    return chunk
                })
        } onCancel: {
            use.end()
        }
    }

    var urlRule: (@Sendable (URL) -> Bool)? { nil }

    func shutdown() async {}

    /// A request under way; over at its end, when it is cancelled, or when nobody has it any more.
    private final class Use: Sendable {
        private let world: SimulatedWorld
        private let number: Int
        private let request: Int
        private let isOver = Lock(false)

        init(_ world: SimulatedWorld, _ number: Int) {
            self.world = world
            self.number = number
            request = world.begin(number)
        }

        /// Ends where nobody has cancelled it.
        func finish() {
            goOn()
            end()
        }

        func goOn() { if !Task.isCancelled { world.goOn(number, request) } }

        deinit { end() }

        func end() {
            let ends = isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
            if ends { world.end(number, request) }
        }
    }
}

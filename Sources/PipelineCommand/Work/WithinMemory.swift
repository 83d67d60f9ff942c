import Pipeline
import Stages

/// Runs its body once there is memory for the picture, as far as its header tells.
struct WithinMemory: CompositeStage {
    private let budget: MemoryBudget
    private let onHeader: (@Sendable (ImageHeader) -> Void)?
    var body: Chain

    /// Wraps the stages that hold pixels.
    /// - Parameter onHeader: Is called with the header, if it can be read.
    init(
        _ budget: MemoryBudget, onHeader: (@Sendable (ImageHeader) -> Void)? = nil,
        @ChainBuilder _ body: () -> Chain
    ) {
        self.budget = budget
        self.onHeader = onHeader
        self.body = body()
    }

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .original(let file) = load.content else {
            try await body.run(&load)
            return .done
        }
        // What is wrong with a file is for `Decode` to say.
        let estimate = await body.stages.lazy.compactMap { $0 as? Decode }.first?.estimatedMemory(of: load)
        if let estimate { onHeader?(estimate.header) }
        let pixels = estimate.map { $0.peak.saturatingPlus($0.picture) } ?? 0
        let bytes = file.bytes.count.saturatingPlus(pixels)
        try await budget.run(holding: bytes, priority: load.priority) { try await body.run(&load) }
        return .done
    }
}

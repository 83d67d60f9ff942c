import Pipeline
import Stages

/// Runs its body once there is memory for the picture, as far as its header tells.
struct WithinMemory: CompositeStage {
    private let budget: MemoryBudget
    private let cutsFrames: Bool
    private let onHeader: (@Sendable (ImageHeader, Int) -> Void)?
    var body: Chain

    /// Wraps the stages that hold pixels.
    /// - Parameters:
    ///   - cutsFrames: Whether an animation loses frames rather than being refused where its limits don't allow them all.
    ///   - onHeader: Is called with the header, if it can be read, and the number of frames that are decoded.
    init(
        _ budget: MemoryBudget, cutsFrames: Bool, onHeader: (@Sendable (ImageHeader, Int) -> Void)? = nil,
        @ChainBuilder _ body: () -> Chain
    ) {
        self.budget = budget
        self.cutsFrames = cutsFrames
        self.onHeader = onHeader
        self.body = body()
    }

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .original(let file) = load.content, var decode = body.stages.lazy.compactMap({ $0 as? Decode }).first
        else {
            try await body.run(&load)
            return .done
        }
        if cutsFrames { decode = await decode.keepingFrames(of: load) }
        // What is wrong with a file is for `Decode` to say.
        let estimate = await decode.estimatedMemory(of: load)
        if let estimate { onHeader?(estimate.header, decode.frames) }
        let pixels = estimate.map { $0.peak.saturatingPlus($0.picture) } ?? 0
        let bytes = file.bytes.count.saturatingPlus(pixels)
        let stages = Chain(body.stages.map { $0 is Decode ? decode : $0 })
        try await budget.run(holding: bytes, priority: load.priority) { try await stages.run(&load) }
        return .done
    }
}

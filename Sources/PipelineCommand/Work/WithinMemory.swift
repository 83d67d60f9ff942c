import Pipeline
import Stages

/// Runs its body once the memory is available that the image needs according to its header.
struct WithinMemory: CompositeStage {
    private let budget: MemoryBudget
    private let cutsFrames: Bool
    private let onHeader: (@Sendable (ImageHeader, Int) -> Void)?
    private let endsAtHeader: Bool
    var body: Chain

    /// Wraps the stages that hold pixels.
    /// - Parameters:
    ///   - cutsFrames: Whether an animation with more frames than the limits allow loses frames instead of being
    ///     refused.
    ///   - onHeader: Called with the header, if it can be read, and the number of frames that are decoded.
    ///   - endsAtHeader: Whether the load ends then, as if it were cancelled.
    init(
        _ budget: MemoryBudget, cutsFrames: Bool, onHeader: (@Sendable (ImageHeader, Int) -> Void)? = nil,
        endsAtHeader: Bool = false, @ChainBuilder _ body: () -> Chain
    ) {
        self.budget = budget
        self.cutsFrames = cutsFrames
        self.onHeader = onHeader
        self.endsAtHeader = endsAtHeader
        self.body = body()
    }

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .original(let file) = load.content, var decode = body.stages.lazy.compactMap({ $0 as? Decode }).first
        else {
            try await body.run(&load)
            return .done
        }
        if cutsFrames { decode = await decode.keepingFrames(of: &load) }
        // `Decode` reports what is wrong with a file.
        let estimate = await decode.estimatedMemory(of: &load)
        if let estimate { onHeader?(estimate.header, decode.frames) }
        if endsAtHeader { throw CancellationError() }
        let pixels = estimate.map { $0.peak.saturatingPlus($0.picture) } ?? 0
        let bytes = file.bytes.count.saturatingPlus(pixels)
        let stages = Chain(body.stages.map { $0 is Decode ? decode : $0 })
        // A codec that the load leaves behind keeps the memory until it ends.
        load.attach(try await budget.claimed(bytes, priority: load.priority))
        defer { load.detach(MemoryClaim.self) }
        try await stages.run(&load)
        return .done
    }
}

extension ImageHeader {
    /// The warning of what a result lacks: HDR, depth and frames that it could hold, parts of a drawing, and a
    /// manifest of provenance; `nil` if nothing is lost against the user's will.
    /// - Parameters:
    ///   - isChosen: Whether the user has chosen the number of frames.
    ///   - mapsColors: Whether the user has asked for sRGB.
    ///   - isReduced: Whether the user has asked for 8 bits.
    ///   - isBaseAlone: Whether the user has asked for no gain map.
    func warning(
        kept: Int, isChosen: Bool, result: ImageFormat, mapsColors: Bool = false, isReduced: Bool = false,
        isBaseAlone: Bool = false
    ) -> String? {
        let sentences = [
            losses(writing: result, isReduced: isReduced, isBaseAlone: isBaseAlone), mapsColors ? nil : gamutLoss,
            frameLosses(kept: kept, isChosen: isChosen, result: result),
        ].compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    private var gamutLoss: String? {
        lostGamut.map {
            "\($0) becomes sRGB, since a stage or the format can't keep it. --gamut srgb says that this is meant."
        }
    }

    private func frameLosses(kept: Int, isChosen: Bool, result: ImageFormat) -> String? {
        guard !isChosen, frames > kept else { return nil }
        guard result.holdsMotion else {
            return "The animation has \(frames) frames; \(result.name.uppercased()) holds only the first one. "
                + "--frames 1 says that this is meant."
        }
        guard format.holdsMotion else { return nil }
        return
            "The animation has \(frames) frames; only the first \(kept == 1 ? "one is" : "\(kept) are") kept. "
            + "--frames all with a higher --max-pixels keeps them all."
    }
}

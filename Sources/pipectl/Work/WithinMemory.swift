import Pipeline
import Stages

/// Runs its body once there is memory for the picture, as far as its header tells.
struct WithinMemory: CompositeStage {
    private let budget: MemoryBudget
    private let target: (@Sendable (PixelSize) -> PixelSize)?
    var body: Chain

    /// Wraps the stages that hold pixels.
    /// - Parameter target: what becomes of a picture of a size, where it is reduced as it is decoded.
    init(
        _ budget: MemoryBudget, target: (@Sendable (PixelSize) -> PixelSize)?, @ChainBuilder _ body: () -> Chain
    ) {
        self.budget = budget
        self.target = target
        self.body = body()
    }

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .original(let file) = load.content else {
            try await body.run(&load)
            return .done
        }
        let bytes = try await weight(of: file.bytes)
        try await budget.run(holding: bytes) { try await body.run(&load) }
        return .done
    }

    private func weight(of bytes: [UInt8]) async throws -> Int {
        guard let format = ImageFormatSniffer.format(of: bytes),
            let decoder = ImageDecoders.standard.decoder(for: format)
        else { return bytes.count }
        let header = try await BlockingThreads.decoding.run { cancellation in
            // What is wrong with it is for the decoder to say.
            try? decoder.header(of: bytes, format: format, cancellation: cancellation)
        }
        guard let header else { return bytes.count }
        let size = target.map { $0(header.size) } ?? header.size
        func pixels(_ size: PixelSize) -> Int {
            let (area, overflows) = size.width.multipliedReportingOverflow(by: size.height)
            return overflows ? 1 << 50 : min(area, 1 << 50)
        }
        // The source's picture at no more than about twice the target, and the result beside it; four bytes a pixel.
        let decoded = min(pixels(header.size), pixels(size) * 4)
        return bytes.count + header.memory + 4 * (decoded + pixels(size))
    }
}

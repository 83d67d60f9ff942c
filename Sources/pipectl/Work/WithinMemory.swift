import Pipeline
import Stages

/// Runs its body once there is memory for the picture, as far as its header tells.
struct WithinMemory: CompositeStage {
    private let budget: MemoryBudget
    private let onHeader: (@Sendable (ImageHeader, [UInt8]) -> Void)?
    var body: Chain

    /// Wraps the stages that hold pixels.
    /// - Parameter onHeader: is called with the header and the file, if it can be read.
    init(
        _ budget: MemoryBudget, onHeader: (@Sendable (ImageHeader, [UInt8]) -> Void)? = nil,
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
        let bytes = try await weight(of: file.bytes)
        try await budget.run(holding: bytes, priority: load.priority) { try await body.run(&load) }
        return .done
    }

    private func weight(of bytes: [UInt8]) async throws -> Int {
        // The libraries of formats that aren't read are never opened.
        guard let format = ImageFormatSniffer.format(of: bytes), ImageFormat.standard.contains(format),
            let decoder = ImageDecoders.standard.decoder(for: format)
        else { return bytes.count }
        let header = try await BlockingThreads.decoding.run { cancellation in
            // What is wrong with it is for the decoder to say.
            try? decoder.header(of: bytes, format: format, cancellation: cancellation)
        }
        guard let header else { return bytes.count }
        onHeader?(header, bytes)
        let needs = body.stages.lazy.compactMap { $0 as? Decode }.first?.ahead
        let size = needs?.box(of: header.size).map { header.size.fitted(into: $0) } ?? header.size
        // The picture at no more than about twice the size that is needed, and the result beside it; four bytes a pixel.
        let decoded = min(Self.pixels(header.size), Self.pixels(size) * 4)
        return bytes.count + min(max(0, header.memory), Self.largest) + 4 * (decoded + Self.pixels(size))
    }

    /// More than any machine has, and small enough that sums of it don't overflow: a header may promise anything.
    private static let largest = 1 << 50

    private static func pixels(_ size: PixelSize) -> Int {
        let (area, overflows) = size.width.multipliedReportingOverflow(by: size.height)
        return overflows ? largest : min(max(0, area), largest)
    }
}

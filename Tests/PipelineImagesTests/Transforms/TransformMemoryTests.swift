import Pipeline
import PipelineTesting
import Testing

@testable import PipelineImages

@Suite("Transforms and encoders share the memory of the list's decodes")
struct TransformMemoryTests {
    /// Enough for 8 × 8 pixels, and too little for what `large` makes.
    private static let bytes = 1_000_000
    private let budget = MemoryBudget(bytes: Self.bytes)
    private let large: [any Stage] = [
        Resize(600, enlarges: true), Pad(to: 600), Resize(600, fit: .cover, enlarges: true),
        Resize(PixelSize(width: 1, height: 600), fit: .contain, enlarges: true),
    ]

    /// A stage of a program's own, or an encoder.
    private func stage(_ name: String, _ work: @escaping @Sendable () async -> Void) -> ClosureStage {
        ClosureStage(name, accepts: .decoded, produces: .decoded, signature: name) { load in
            await work()
            return .done
        }
    }

    private func load(_ stages: [any Stage]) async throws -> LoadResponse {
        let source = try await EncodedImage(
            encoding: DecodedImage(size: 8, layout: .rgb, pixels: [UInt8](repeating: 7, count: 192)), as: .png)
        let list = Chain([ReadInline(), Decode(budget: budget)] + stages)
        return try await ImagePipeline(validating: list).load(ImageRequest(.bytes(source.bytes)))
    }

    private var isFree: Bool {
        guard budget.claimNow(Self.bytes, priority: .normal) else { return false }
        budget.release(Self.bytes)
        return true
    }

    @Test("A transform that enlarges the picture waits until its memory is free", arguments: 0..<4)
    func waits(_ number: Int) async throws {
        let (budget, isOver) = (budget, Lock(false))
        let others = stage("Others") { #expect(budget.claimNow(Self.bytes, priority: .normal)) }
        let large = large[number]
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let image = try await load([others, large]).image
                #expect(image?.height == 600)
                isOver.withLock { $0 = true }
            }
            while budget.waiting == 0, !isOver.withLock({ $0 }) { await Task.yield() }
            #expect(budget.waiting == 1, "\(large) didn't wait")
            budget.release(Self.bytes)
            try await group.waitForAll()
        }
        #expect(isFree)
    }

    @Test("Sixteen bits a channel take twice the memory of eight", arguments: [false, true])
    func depth(_ isDeep: Bool) async throws {
        let (budget, isOver, waited) = (budget, Lock(false), Lock(false))
        // 8 bytes for each of the larger picture's pixels fit next to this, and 16 don't.
        let held = Self.bytes - 300 * 300 * 8 - 1000
        let image = DeepPicture.gradients(PixelSize(square: 8), channels: 3)
        let source = try await EncodedImage(encoding: image, as: .png)
        let others = ClosureStage("Others", accepts: .original, produces: .original, signature: "1") { _ in
            #expect(budget.claimNow(held, priority: .normal))
            return .done
        }
        let list = Chain([
            ReadInline(), others, Decode(depth: isDeep ? .source : .eight, budget: budget), Pad(to: 300),
        ])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { isOver.withLock { $0 = true } }
                let made = try await ImagePipeline(validating: list).load(ImageRequest(.bytes(source.bytes))).image
                #expect(made?.layout.sampleType == (isDeep ? .uint16 : .uint8))
            }
            while !isOver.withLock({ $0 }) {
                if budget.waiting == 1 {
                    waited.withLock { $0 = true }
                    break
                }
                await Task.yield()
            }
            budget.release(held)
            try await group.waitForAll()
        }
        #expect(waited.withLock { $0 } == isDeep)
        #expect(isFree)
    }

    @Test("Its memory is held until the picture is encoded, and no transform of the same load waits for more")
    func held() async throws {
        let (budget, wasHeld) = (budget, Lock(false))
        let encoder = Watching {
            let isHeld = !budget.claimNow(1, priority: .veryHigh)
            wasHeld.withLock { $0 = isHeld }
        }
        let format = ImageFormat(rawValue: "image/x-held")
        let codec = ImageCodec(format, extensions: [], decoder: Unused(), encoder: encoder) { _ in false }
        _ = try await load([
            Resize(600, enlarges: true), Blur(sigma: 1), Pad(to: 700),
            Encode(format, codecs: ImageCodecs.standard.adding(codec)),
        ])
        #expect(wasHeld.withLock { $0 })
        #expect(isFree)
    }

    @Test("A stage of another kind may claim memory itself, or load another picture")
    func foreignStage() async throws {
        let budget = budget
        let own = stage("Own") {
            #expect(budget.claimNow(Self.bytes, priority: .normal))
            budget.release(Self.bytes)
        }
        _ = try await load([Resize(600, enlarges: true), own, Resize(300)])
        #expect(isFree)
    }

    @Test("A transform that doesn't enlarge the picture never waits, and neither does an encoder")
    func smaller() async throws {
        let budget = budget
        let others = stage("Others") { #expect(budget.claimNow(Self.bytes, priority: .normal)) }
        let response = try await load([others, Resize(4), Flip(.horizontal), Encode(.png)])
        #expect(response.encoded?.size == 4)
        budget.release(Self.bytes)
        #expect(isFree)
    }
}

/// Reads nothing.
private struct Unused: ImageDecoding {
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader { throw CancellationError() }
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage { throw CancellationError() }
}

/// Writes nothing, and calls a closure.
private struct Watching: ImageEncoding {
    let defaults = 0
    let whileEncoding: @Sendable () -> Void

    init(_ whileEncoding: @escaping @Sendable () -> Void) { self.whileEncoding = whileEncoding }

    func values(of options: Int) -> [(name: String, value: String)] { [] }

    func encode(
        _ image: DecodedImage, quality: Int, options: Int, metadata: EmbeddedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8] {
        whileEncoding()
        return [1]
    }
}

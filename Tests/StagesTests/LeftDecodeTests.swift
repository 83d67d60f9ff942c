import Pipeline
import Testing

@testable import Stages

@Suite("A decode that a cancelled load doesn't wait for", .timeLimit(.minutes(1)))
struct LeftDecodeTests {
    /// libwebp, which takes as long as the barrier is closed.
    private struct Slow: ImageDecoding {
        let began = Counter()
        let barrier = Barrier()
        let inner = WebPDecoder()
        var formats: Set<ImageFormat> { inner.formats }

        func header(of bytes: [UInt8], format: ImageFormat, cancellation: WorkCancellation) throws -> ImageHeader {
            try inner.header(of: bytes, format: format, cancellation: cancellation)
        }

        func decode(
            _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions,
            cancellation: WorkCancellation
        ) throws -> DecodedImage {
            began.increment()
            barrier.wait()
            return try inner.decode(bytes, header: header, box: box, options: options, cancellation: cancellation)
        }
    }

    @Test(
        "It keeps its thread and its memory until it ends, whether it had to wait for that or not",
        arguments: [false, true])
    func left(_ waits: Bool) async throws {
        let bytes = try SampleImage.bytes("good/webp-lossless.webp")
        let (slow, budget) = (Slow(), MemoryBudget(bytes: 1000))
        let threads = BlockingThreads(name: "test", count: 1)
        if waits { #expect(budget.claimNow(1, priority: .normal)) }
        let load = Task {
            try await SampleImage.decode(
                bytes, with: Decode(decoders: ImageDecoders([slow]), budget: budget, threads: threads))
        }
        if waits {
            while budget.waiting == 0 { await Task.yield() }
            budget.release(1)
        }
        await slow.began.reaches(1)
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        #expect(!budget.claimNow(1, priority: .normal))
        slow.barrier.open()
        // The thread's next work is done after it.
        #expect(try await threads.run { _ in budget.claimNow(1000, priority: .normal) })
    }

    @Test("Memory is given back if the load is cancelled before a thread is free")
    func neverBegun() async throws {
        let bytes = try SampleImage.bytes("good/webp-lossless.webp")
        let (slow, budget) = (Slow(), MemoryBudget(bytes: 1000))
        let threads = BlockingThreads(name: "test", count: 1)
        #expect(budget.claimNow(1, priority: .normal))
        let load = Task {
            try await SampleImage.decode(
                bytes, with: Decode(decoders: ImageDecoders([slow]), budget: budget, threads: threads))
        }
        while budget.waiting == 0 { await Task.yield() }
        let (began, barrier) = (Counter(), Barrier())
        async let other: Void = threads.run { _ in
            began.increment()
            barrier.wait()
        }
        await began.reaches(1)
        budget.release(1)
        while threads.waiting == 0 { await Task.yield() }
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        #expect(budget.claimNow(1000, priority: .normal))
        #expect(slow.began.value == 0)
        barrier.open()
        try await other
    }
}

import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("A decode that a cancelled load doesn't wait for", .timeLimit(.minutes(5)))
struct LeftDecodeTests {
    /// libwebp, which takes as long as the barrier is closed.
    private struct Slow: ImageDecoding {
        let began = Counter()
        let barrier = Barrier()
        let inner = WebPDecoder()
        var canBeStopped: Bool { inner.canBeStopped }

        func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
            try inner.header(of: bytes, cancellation: cancellation)
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
        let bytes = try Pictures.bytes("good/webp-lossless.webp")
        let (slow, budget) = (Slow(), MemoryBudget(bytes: 1000))
        let threads = BlockingThreads(name: "test", count: 1)
        if waits { #expect(budget.claimNow(1, priority: .normal)) }
        let load = Task {
            try await SampleImage.decode(
                bytes, with: Decode(codecs: [ImageCodec.webp.decoding(with: slow)], budget: budget, threads: threads))
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

    /// A decoder that takes as long as its barrier is closed, and can be stopped if the format's own one can.
    private struct Stuck: ImageDecoding {
        let codec: ImageCodec
        var canBeStopped: Bool { codec.decoder.canBeStopped }
        let began = Counter()
        let barrier = Barrier()
        let image = DecodedImage(size: PixelSize(square: 1), layout: .gray, pixels: [7])

        func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
            ImageHeader(format: codec.format, storedSize: PixelSize(square: 1))
        }

        func decode(
            _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions,
            cancellation: WorkCancellation
        ) throws -> DecodedImage {
            began.increment()
            barrier.wait()
            return image
        }
    }

    @Test(
        "AVIF and HEIC are left too, by a load that is cancelled and by one that is out of time",
        arguments: [("good/avif-photo.avif", ImageCodec.avif), ("good/heic-128.heif", .heic)], [false, true])
    func codecs(_ file: (String, ImageCodec), _ isLate: Bool) async throws {
        let bytes = try Pictures.bytes(file.0)
        let (stuck, budget, clock) = (Stuck(codec: file.1), MemoryBudget(bytes: 1000), ManualClock())
        let threads = BlockingThreads(name: "test", count: 1)
        let pipeline = ImagePipeline(clock: clock) {
            ReadInline()
            Decode(
                codecs: [file.1.decoding(with: stuck)], limits: ImageLimits(time: .seconds(5)), budget: budget,
                threads: threads)
        }
        let load = Task { try await pipeline.load(ImageRequest(.bytes(bytes))) }
        await stuck.began.reaches(1)
        if isLate {
            try await clock.sleepers(1, includingLimits: true)
            clock.advance(by: .seconds(6))
            let error = await #expect(throws: LoadError.self) { try await load.value }
            #expect(error?.code == .tooMuchTime)
        } else {
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value }
        }
        // The work still holds its memory.
        #expect(!budget.claimNow(1000, priority: .normal))
        stuck.barrier.open()
        #expect(try await threads.run { _ in budget.claimNow(1000, priority: .normal) })
    }

    @Test("Memory is given back if the load is cancelled before a thread is free")
    func neverBegun() async throws {
        let bytes = try Pictures.bytes("good/webp-lossless.webp")
        let (slow, budget) = (Slow(), MemoryBudget(bytes: 1000))
        let threads = BlockingThreads(name: "test", count: 1)
        #expect(budget.claimNow(1, priority: .normal))
        let load = Task {
            try await SampleImage.decode(
                bytes, with: Decode(codecs: [ImageCodec.webp.decoding(with: slow)], budget: budget, threads: threads))
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

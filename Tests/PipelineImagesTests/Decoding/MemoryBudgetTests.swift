import Pipeline
import PipelineTesting
import Synchronization
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("All decodes together stay within their memory")
struct MemoryBudgetTests {
    private func waiters(_ count: Int, _ budget: MemoryBudget) async {
        while budget.waiting != count { await Task.yield() }
    }

    @Test("What fits goes at once; what doesn't waits until enough is given back")
    func waits() async throws {
        let budget = MemoryBudget(bytes: 100)
        #expect(budget.claimNow(60, priority: .normal))
        #expect(!budget.claimNow(50, priority: .normal))
        let task = Task { try await budget.claim(50, priority: .normal) }
        await waiters(1, budget)
        // Nobody passes the first in line, though there would be room.
        #expect(!budget.claimNow(10, priority: .normal))
        #expect(budget.claimNow(10, priority: .high))
        budget.release(60)
        try await task.value
        #expect(budget.claimNow(40, priority: .normal))
        #expect(!budget.claimNow(1, priority: .veryHigh))
    }

    @Test("The most urgent comes first, then the order of arrival")
    func order() async throws {
        let budget = MemoryBudget(bytes: 1)
        #expect(budget.claimNow(1, priority: .normal))
        let (order, report) = AsyncStream.makeStream(of: Int.self)
        for (index, priority) in [LoadPriority.low, .normal, .veryHigh, .normal].enumerated() {
            Task {
                try await budget.claim(1, priority: priority)
                report.yield(index)
                budget.release(1)
            }
            await waiters(index + 1, budget)
        }
        budget.release(1)
        var seen: [Int] = []
        for await index in order {
            seen.append(index)
            if seen.count == 4 { break }
        }
        #expect(seen == [2, 1, 3, 0])
    }

    @Test("A waiter moves to another line as its load's priority changes")
    func moved() async throws {
        let budget = MemoryBudget(bytes: 1)
        #expect(budget.claimNow(1, priority: .normal))
        let first = Task { try await budget.claim(1, priority: .normal) }
        await waiters(1, budget)
        let urgency = AdjustablePriority(.low)
        let second = Task {
            try await AdjustablePriority.$inherited.withValue(urgency) { try await budget.claim(1, priority: .low) }
        }
        await waiters(2, budget)
        urgency.set(.high)
        budget.release(1)
        // The second has it now; the first gets it after that.
        try await second.value
        #expect(budget.waiting == 1)
        budget.release(1)
        try await first.value
    }

    @Test("A cancelled waiter leaves the line at once, and the one behind it continues")
    func cancelled() async throws {
        let budget = MemoryBudget(bytes: 100)
        #expect(budget.claimNow(60, priority: .normal))
        let large = Task { try await budget.claim(100, priority: .normal) }
        await waiters(1, budget)
        let small = Task { try await budget.claim(40, priority: .normal) }
        await waiters(2, budget)
        large.cancel()
        await #expect(throws: CancellationError.self) { try await large.value }
        try await small.value
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            try await budget.claim(100, priority: .normal)
        }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        budget.release(60)
        budget.release(40)
        #expect(budget.claimNow(100, priority: .normal))
    }

    @Test("What is larger than everything goes alone")
    func alone() async throws {
        let budget = MemoryBudget(bytes: 100)
        #expect(budget.claimNow(1, priority: .normal))
        let task = Task { try await budget.claim(.max, priority: .normal) }
        await waiters(1, budget)
        budget.release(1)
        try await task.value
        #expect(!budget.claimNow(1, priority: .normal))
        budget.release(.max)
        #expect(budget.claimNow(100, priority: .normal))
    }

    @Test("Ten large pictures are decoded one at a time, whatever the threads, and waiting holds none")
    func tenLarge() async throws {
        let bytes = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        let counter = Concurrency()
        let decoder = CountingDecoder(inner: JPEGDecoder(), counter: counter)
        let threads = BlockingThreads(name: "few", count: 2)
        let budget = MemoryBudget(bytes: 3_000_000)
        // The coefficients of all pixels take 1.8 MB, the pixels 0.9: two don't fit.
        let decode = Decode(codecs: [ImageCodec.jpeg.decoding(with: decoder)], budget: budget, threads: threads)
        #expect(budget.claimNow(3_000_000, priority: .normal))
        let tasks = (0..<10).map { _ in Task { try await SampleImage.decode(bytes, with: decode) } }
        await waiters(10, budget)
        #expect(try await threads.run { _ in 7 } == 7)
        budget.release(3_000_000)
        for task in tasks { #expect(try await task.value.size == PixelSize(width: 640, height: 472)) }
        #expect(counter.most.load(ordering: .relaxed) == 1)
        #expect(budget.claimNow(3_000_000, priority: .normal))
    }

    @Test("A picture that alone needs more than is allowed is refused by its header; smaller it is not")
    func limit() async throws {
        let bytes = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        let decode = Decode(limits: ImageLimits(memory: 10_000_000))
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(bytes, with: decode) }
        #expect(error.code == .tooMuchMemory)
        // Three bytes a pixel, and 64 rows at a time.
        #expect(error.message.contains("\(4032 * 2976 * 3 + 4032 * 256)"))
        #expect(try await SampleImage.decode(bytes, maxPixelSize: 300, with: decode).width == 300)
    }

    @Test(
        "The estimate knows what a format has to hold",
        arguments: [
            ("jpeg-progressive-444.jpg", 640 * 472 * 6), ("photo-12mp-baseline-420.jpg", 0),
            ("gif-animated.gif", 64 * 48 * 8), ("webp-lossless.webp", 160 * 120 * 4),
            ("webp-lossy.webp", 160 * 120 * 3),
            ("webp-animated.webp", 64 * 48 * 12 + 4 * 128),
            ("tiff-deflate-strip.tif", 160 * 120 * 3 + 24), ("avif-photo.avif", 403 * 302 * 11 + 15_076),
            ("heic-128.heif", 128 * 128 * 10), ("bmp-rgb24.bmp", 0),
        ])
    func estimates(_ name: String, _ expected: Int) throws {
        let bytes = try Pictures.bytes("good/\(name)")
        let format = try #require(ImageCodecs.known.format(of: bytes))
        let header = try #require(ImageCodecs.standard.codec(for: format)?.decoder)
            .header(of: bytes, cancellation: WorkCancellation())
        #expect(header.memory + header.storedSize.bytes(header.wholeBytes) == expected)
        let pixels = header.storedSize.width * header.storedSize.height
        #expect(header.decodingMemory(box: nil, frames: 1) >= expected + pixels * 3)
        // Rows as they come, and what scaling holds of them.
        #expect(header.decodingMemory(box: 1, frames: 1) <= expected + 300 * header.storedSize.width)
    }

    @Test("A picture that takes too long is given up, at the next look, and the error says what to do")
    func time() async throws {
        let bytes = try Pictures.bytes("good/webp-lossy.webp")
        let clock = ManualClock()
        let codecs: ImageCodecs = [ImageCodec.webp.decoding(with: SlowDecoder(inner: WebPDecoder(), clock: clock))]
        for (limit, expected) in [(Duration.seconds(5), LoadError.Code.tooMuchTime), (.seconds(20), nil), (nil, nil)] {
            let pipeline = ImagePipeline(clock: clock) {
                ReadInline()
                Decode(codecs: codecs, limits: ImageLimits(time: limit))
            }
            do {
                _ = try await pipeline.load(ImageRequest(.bytes(bytes)))
                #expect(expected == nil)
            } catch let error as LoadError {
                #expect(error.code == expected)
                #expect(error.message.contains("5.0 seconds"))
            }
        }
    }
}

private final class Concurrency: Sendable {
    let now = Atomic<Int>(0)
    let most = Atomic<Int>(0)
}

private struct CountingDecoder: ImageDecoding {
    let inner: any ImageDecoding
    var canBeStopped: Bool { inner.canBeStopped }
    let counter: Concurrency

    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try inner.header(of: bytes, cancellation: cancellation)
    }

    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let now = counter.now.add(1, ordering: .relaxed).newValue
        counter.most.max(now, ordering: .relaxed)
        defer { counter.now.subtract(1, ordering: .relaxed) }
        return try inner.decode(bytes, header: header, box: box, options: options, cancellation: cancellation)
    }
}

/// Takes ten seconds before it begins.
private struct SlowDecoder: ImageDecoding {
    let inner: any ImageDecoding
    var canBeStopped: Bool { inner.canBeStopped }
    let clock: ManualClock

    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try inner.header(of: bytes, cancellation: cancellation)
    }

    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        clock.advance(by: .seconds(10))
        return try inner.decode(bytes, header: header, box: box, options: options, cancellation: cancellation)
    }
}

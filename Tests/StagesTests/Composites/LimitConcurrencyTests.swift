import Pipeline
import PipelineTesting
import Stages
import Testing

@Suite("Limits of concurrent loads", .timeLimit(.minutes(5)))
struct LimitConcurrencyTests {
    private let limit = ConcurrencyLimit(running: 1, waiting: 2)
    private let order = Lock<[String]>([])
    private let gate = Waiter<Void>()

    /// A list whose first load runs until the gate opens.
    private var list: ImagePipeline {
        ImagePipeline {
            LimitConcurrency(limit) {
                ClosureStage("Work", produces: .original) { load in
                    guard case .dataURL(let name) = load.request.source else { return .skipped }
                    order.withLock { $0.append(name) }
                    if name == "first" { try await gate.value { gate.resume(with: .failure(CancellationError())) } }
                    load.advance(to: .original(EncodedImage(bytes: [])), from: .inline)
                    return .done
                }
            }
            ClosureStage("End", accepts: .original, produces: .ready) { _ in .skipped }
        }
    }

    private func start(_ name: String, _ priority: LoadPriority = .normal) -> Task<Void, any Error> {
        Task { [list] in _ = try? await run(name, priority, list) }
    }

    private func run(_ name: String, _ priority: LoadPriority, _ list: ImagePipeline) async throws {
        do {
            _ = try await list.load(ImageRequest(.dataURL(name), priority: priority))
        } catch let error as LoadError where error.code == .notCached || error.code == .unexpectedProduct {}
    }

    private func running(_ count: Int) async { while order.withLock({ $0.count }) != count { await Task.yield() } }

    private func waiting(_ count: Int) async { while limit.waitingNow != count { await Task.yield() } }

    @Test("The urgent ones go first, and those beyond the limit are refused as busy")
    func refused() async throws {
        let first = start("first")
        await running(1)
        let low = start("low", .low)
        await waiting(1)
        let high = start("high", .high)
        await waiting(2)
        let error = await #expect(throws: LoadError.self) { try await run("refused", .veryHigh, list) }
        #expect(error?.code == .busy)
        gate.resume(with: .success(()))
        for task in [first, low, high] { try await task.value }
        #expect(order.withLock { $0 } == ["first", "high", "low"])
        // Every place is free again.
        try await run("next", .normal, list)
    }

    @Test("A cancelled load leaves its place, whether it runs or waits")
    func cancelled() async throws {
        let first = start("first")
        await running(1)
        let second = start("second")
        await waiting(1)
        second.cancel()
        await waiting(0)
        first.cancel()
        try await first.value
        try await run("third", .normal, list)
        #expect(order.withLock { $0 } == ["first", "third"])
    }

    @Test("Without places to wait in, a load runs if it can, or is refused")
    func noWaiting() async throws {
        let limit = ConcurrencyLimit(running: 1, waiting: 0)
        let inner = ClosureStage("Inner", produces: .empty) { load in
            let error = await #expect(throws: LoadError.self) {
                try await ImagePipeline { LimitConcurrency(limit) { Delay(.zero) } }.load(ImageRequest(.bytes([])))
            }
            #expect(error?.code == .busy)
            return .done
        }
        let list = ImagePipeline { LimitConcurrency(limit) { inner } }
        for _ in 0..<2 {
            let error = await #expect(throws: LoadError.self) { try await list.load(ImageRequest(.bytes([]))) }
            #expect(error?.code == .notCached)
        }
    }
}

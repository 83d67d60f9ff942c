import Foundation
import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP
@testable import Stages

@Suite("Priorities that change while loads run")
struct PriorityTests {
    private let flights = Flights()
    private let gate = Gate()

    /// A list whose fetch tells its priority whenever it changes, until the gate opens.
    private func pipeline(_ seen: Lock<[LoadPriority]>) -> ImagePipeline {
        ImagePipeline {
            ResolveIdentifier()
            Coalesce(flights, by: .variant) {
                Coalesce(flights, by: .source) {
                    StubStage("Fetch") { [gate] load in
                        let first = load.priority
                        try await AdjustablePriority.following { priority in
                            seen.withLock { $0.append(priority) }
                        } _: {
                            // Only now does it hear of changes.
                            seen.withLock { $0.append(first) }
                            try await gate.wait()
                        }
                        load.advance(to: .original(EncodedImage(bytes: [1])), from: .network)
                        return .done
                    }
                }
                StubStage("Decode", accepts: .original) { load in
                    load.advance(to: .decoded(.filled(9)))
                    return .done
                }
                Store(nil, nil)
            }
        }
    }

    private func request(_ priority: LoadPriority, size: Int? = nil) -> ImageRequest {
        ImageRequest(.dataURL("a"), maxPixelSize: size.map { PixelSize(square: $0) }, priority: priority)
    }

    @Test("Shared work has the highest priority of those waiting, and loses it with them")
    func highest() async throws {
        let seen = Lock<[LoadPriority]>([])
        let pipeline = pipeline(seen)
        let low = Task { try await pipeline.load(request(.low)) }
        await flights.reaches(waiters: 2)
        while seen.withLock({ $0.count }) < 1 { await Task.yield() }
        let high = Task { try await pipeline.load(request(.high)) }
        while seen.withLock({ $0.count }) < 2 { await Task.yield() }
        // Another size joins the fetch alone.
        let higher = Task { try await pipeline.load(request(.veryHigh, size: 5)) }
        while seen.withLock({ $0.count }) < 3 { await Task.yield() }
        higher.cancel()
        while seen.withLock({ $0.count }) < 4 { await Task.yield() }
        high.cancel()
        while seen.withLock({ $0.count }) < 5 { await Task.yield() }
        gate.open()
        _ = try await low.value
        #expect(seen.withLock { $0 } == [.low, .high, .veryHigh, .high, .low])
    }

    @Test("A task's priority, set while it runs, reaches the fetch that it shares")
    func settable() async throws {
        let seen = Lock<[LoadPriority]>([])
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: "/nowhere"), flights: flights, client: CurlClient())
        let pipeline = pipeline(seen)
        let loader = try ImageLoader(resources) { _, _ in pipeline }
        let first = loader.task(for: .dataURL("a"), options: LoadOptions(priority: .low))
        while seen.withLock({ $0.count }) < 1 { await Task.yield() }
        let second = loader.task(for: .dataURL("a"), options: LoadOptions(priority: .veryLow))
        await flights.reaches(waiters: 3)
        second.priority = .high
        first.priority = .normal
        second.priority = .veryLow
        second.priority = .veryLow
        first.priority = .veryLow
        gate.open()
        _ = try await first.response
        #expect(seen.withLock { $0 } == [.low, .high, .normal, .veryLow])
        #expect(first.priority == .veryLow)
    }

    @Test("Blocking work that waits moves with the priority of its load")
    func threads() async throws {
        let threads = BlockingThreads(name: "test", count: 1)
        let isOpen = Monitor(false)
        let (order, isHeld) = (Lock<[String]>([]), Counter())
        let holding = Task {
            try await threads.run { _ in
                isHeld.increment()
                isOpen.wait(for: { $0 ? () : nil }, whileIdle: { _, _ in })
            }
        }
        let mine = AdjustablePriority(.low)
        await isHeld.reaches(1)
        let works = [
            Task {
                try await AdjustablePriority.$inherited.withValue(mine) {
                    try await threads.run(priority: .low) { _ in order.withLock { $0.append("mine") } }
                }
            },
            Task { try await threads.run(priority: .normal) { _ in order.withLock { $0.append("other") } } },
        ]
        while threads.waiting < 2 { await Task.yield() }
        mine.set(.high)
        isOpen.withLock(wake: .all) { $0 = true }
        for work in works { try await work.value }
        try await holding.value
        #expect(order.withLock { $0 } == ["mine", "other"])
    }

    @Test("A transfer that waits for a connection moves with its priority, among its like in its turn")
    func transfers() throws {
        let thread = CurlThread(options: .local)
        var queue = CurlQueue(maximumPerHost: 9, maximum: 9)
        let transfers = try (0..<4).map { _ in
            let url = try #require(URL(string: "http://a/"))
            return CurlTransfer(
                TransferRequest(url: url, priority: .low), target: try CurlURL(url), deadline: nil, thread: thread)
        }
        for transfer in transfers { queue.append(transfer) }
        queue.prioritize(transfers[3], .high)
        queue.prioritize(transfers[2], .high)
        queue.prioritize(transfers[0], .veryLow)
        var started: [Int?] = []
        while let next = queue.next() { started.append(transfers.firstIndex { $0 === next }) }
        #expect(started == [2, 3, 1, 0])
    }

    @Test("Shared work ends with the highest priority of those waiting, however many change theirs at once")
    func changesAtOnce() async throws {
        let load = try pipeline(Lock([])).begin(request(.low), events: nil)
        let key = try #require(SourceKey(request(.low)))
        // More threads than processors, so that some stop half way.
        let threads = ThreadExecutor()
        for _ in 0..<3000 {
            let waiters = (0..<8).map { _ in flights.join(.source(key, headers: .zero), load) }
            await withTaskGroup(of: Void.self) { group in
                for waiter in waiters {
                    group.addTask(executorPreference: threads) { [flights] in
                        flights.prioritize(waiter, .veryHigh)
                        flights.prioritize(waiter, .low)
                    }
                }
            }
            #expect(waiters[0].begun?.priority.value == .low)
            for waiter in waiters { flights.leave(waiter) }
        }
    }

    @Test("A follower of a priority hears the newest value last, whoever sets it")
    func newestLast() async {
        let priority = AdjustablePriority(.normal)
        let heard = Lock<[LoadPriority]>([])
        let number = priority.follow { value in heard.withLock { $0.append(value) } }
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 { group.addTask { priority.set(LoadPriority.allCases[index % 5]) } }
        }
        #expect(heard.withLock { $0.last } == priority.value)
        priority.unfollow(number)
        let count = heard.withLock { $0.count }
        priority.set(priority.value == .low ? .high : .low)
        #expect(heard.withLock { $0.count } == count)
    }
}

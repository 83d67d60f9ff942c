import Foundation
import HTTPTypes
import PipelineHTTP
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@testable import Pipeline
@testable import Stages

@Suite("Coalesced loads")
struct CoalesceTests {
    private let flights = Flights()
    private let requests = Counter()
    private let gate = Gate()

    /// A list that fetches through this test's gate and counts its requests.
    private func pipeline(
        before: (@Sendable (inout Load) -> Void)? = nil,
        fetch: (@Sendable (inout Load) async throws -> Outcome)? = nil
    ) -> ImagePipeline {
        let (requests, gate) = (requests, gate)
        return ImagePipeline {
            ResolveIdentifier()
            Coalesce(flights, by: .variant) {
                Coalesce(flights, by: .source) {
                    StubStage("Fetch") { load in
                        requests.increment()
                        before?(&load)
                        try await gate.wait()
                        if let fetch { return try await fetch(&load) }
                        load.advance(to: .original(EncodedImage(bytes: [1, 2, 3])), from: .network)
                        return .done
                    }
                }
                StubStage("Decode", accepts: .original) { load in
                    let side = load.request.maxPixelSize?.width ?? 9
                    load.advance(to: .decoded(.filled(PixelSize(square: side))))
                    return .done
                }
                Store(nil, nil)
            }
        }
    }

    private func request(_ name: String = "a", size: Int? = nil) -> ImageRequest {
        ImageRequest(.dataURL(name), maxPixelSize: size.map { PixelSize(square: $0) })
    }

    @Test("A load that begins when another has failed never gets what that one has fetched")
    func failedLater() async throws {
        gate.open()
        let flights = flights
        let pipeline = ImagePipeline { [requests] in
            ResolveIdentifier()
            Coalesce(flights, by: .variant) {
                Coalesce(flights, by: .source) {
                    StubStage("Fetch") { load in
                        requests.increment()
                        load.advance(to: .original(EncodedImage(bytes: [1, 2, 3])), from: .network)
                        return .done
                    }
                }
                StubStage("Refuse", accepts: .original) { load in
                    throw LoadError(.unsupportedType, subject: load.subject, "No.")
                }
            }
        }
        let loads = 5000
        for _ in 0..<loads {
            await #expect(throws: LoadError.self) { try await pipeline.load(request()) }
        }
        #expect(requests.value == loads)
    }

    @Test("A thousand concurrent loads of one source make one request, and all get its answer")
    func thousand() async throws {
        let pipeline = pipeline()
        try await withThrowingTaskGroup(of: LoadResponse.self) { group in
            for _ in 0..<1000 { group.addTask { try await pipeline.load(request()) } }
            await flights.reaches(waiters: 1001)
            gate.open()
            var answers = 0
            for try await response in group {
                #expect(response.image?.width == 9)
                answers += 1
            }
            #expect(answers == 1000)
        }
        #expect(requests.value == 1)
        await flights.drain()
        #expect(flights.isForgotten)
    }

    @Test("Four sizes through two lists built separately share one request and differ from the decode on")
    func sizes() async throws {
        let lists = [pipeline(), pipeline()]
        try await withThrowingTaskGroup(of: (Int, LoadResponse).self) { group in
            for list in lists {
                for size in [10, 20, 30, 40] {
                    group.addTask { (size, try await list.load(request(size: size))) }
                }
            }
            await flights.reaches(waiters: 16)
            gate.open()
            for try await (size, response) in group { #expect(response.image?.width == size) }
        }
        #expect(requests.value == 1)
        await flights.drain()
        #expect(flights.isForgotten)
    }

    @Test("A failed flight gives its error to every waiter and is forgotten: the next load tries again")
    func failure() async throws {
        let attempts = Counter()
        let pipeline = pipeline(fetch: { load in
            if attempts.increment() == 1 { throw LoadError(.unreachable, subject: load.subject, "down") }
            load.advance(to: .original(EncodedImage(bytes: [1])), from: .network)
            return .done
        })
        await withTaskGroup(of: LoadError.Code?.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    do { _ = try await pipeline.load(request()) } catch { return (error as? LoadError)?.code }
                    return nil
                }
            }
            await flights.reaches(waiters: 11)
            gate.open()
            for await code in group { #expect(code == .unreachable) }
        }
        #expect(requests.value == 1)
        _ = try await pipeline.load(request())
        #expect(requests.value == 2)
        await flights.drain()
        #expect(flights.isForgotten)
    }

    @Test("A waiter that is cancelled returns at once, and the others get their image")
    func cancelledWaiter() async throws {
        let pipeline = pipeline()
        let staying = Task { try await pipeline.load(request()) }
        await flights.reaches(waiters: 2)
        let leaving = Task { try await pipeline.load(request()) }
        await flights.reaches(waiters: 3)
        leaving.cancel()
        // The gate is still closed: only the cancellation can end this wait.
        await #expect(throws: CancellationError.self) { try await leaving.value }
        gate.open()
        #expect(try await staying.value.image?.width == 9)
        #expect(requests.value == 1)
    }

    @Test("The load that started a flight can leave it without taking the others down")
    func cancelledLeader() async throws {
        let pipeline = pipeline()
        let leader = Task { try await pipeline.load(request()) }
        await flights.reaches(waiters: 2)
        let follower = Task { try await pipeline.load(request()) }
        await flights.reaches(waiters: 3)
        leader.cancel()
        await #expect(throws: CancellationError.self) { try await leader.value }
        gate.open()
        #expect(try await follower.value.image?.width == 9)
        #expect(requests.value == 1)
    }

    @Test("The last waiter to leave cancels the flight")
    func lastLeaves() async throws {
        let pipeline = pipeline()
        let waiters = (0..<3).map { _ in Task { try await pipeline.load(request()) } }
        await flights.reaches(waiters: 4)
        for waiter in waiters { waiter.cancel() }
        for waiter in waiters { await #expect(throws: CancellationError.self) { try await waiter.value } }
        // The gate stays closed: the flight ends only because it was cancelled.
        await flights.drain()
        #expect(flights.count == 0)
        #expect(flights.isForgotten)
    }

    @Test("A load that set out before the original was stored joins the fetch, even after it was stored")
    func joinsStoredFlight() async throws {
        let disk = Counter()
        let (looked, stored) = (Counter(), Gate())
        let list = { (late: Bool) in
            ImagePipeline {
                ResolveIdentifier()
                Coalesce(flights, by: .variant) {
                    StubStage("Lookup") { load in
                        looked.increment()
                        // The late load looked before anything was stored, and continues after.
                        if late { try await stored.wait() }
                        return .miss
                    }
                    Coalesce(flights, by: .source) {
                        StubStage("Fetch") { load in
                            requests.increment()
                            load.advance(to: .original(EncodedImage(bytes: [1])), from: .network)
                            return .done
                        }
                    }
                    StubStage("Store", accepts: .original) { load in
                        if let right = load.attachment(WriteRight.self), right.claim() {
                            disk.increment()
                            right.stored()
                        }
                        load.advance(to: .decoded(.filled(1)))
                        return .done
                    }
                }
            }
        }
        let (early, late) = (list(false), list(true))
        let waiting = Task { try await late.load(request(size: 20)) }
        await looked.reaches(1)
        _ = try await early.load(request(size: 10))
        stored.open()
        _ = try await waiting.value
        #expect(requests.value == 1)
        #expect(disk.value == 1)
        // A load that sets out now would find it on disk; a list that looks at no disk asks again.
        _ = try await early.load(request(size: 30))
        #expect(requests.value == 2)
        await flights.drain()
        #expect(flights.isForgotten)
    }

    @Test("A caller that joins late is told the events so far, in their order; of the progress, the newest")
    func lateEvents() async throws {
        let reported = Gate()
        let telling = pipeline(before: { load in
            load.report(.sendingRequest(hadCachedImage: false))
            for received in 1...5 { load.report(.progress(received: received, expected: 5)) }
            reported.open()
        })
        let first = Task { try await telling.load(request()) }
        try await reported.wait()
        let events = Lock<[LoadEvent]>([])
        let second = Task { try await telling.load(request()) { event in events.withLock { $0.append(event) } } }
        await flights.reaches(waiters: 3)
        gate.open()
        _ = try await (first.value, second.value)
        let told = events.withLock { $0.map { "\($0)" } }
        #expect(
            told == [
                "joined(fetchOnly: false)", "sendingRequest(hadCachedImage: false)",
                "progress(received: 5, expected: Optional(5))",
                "requestCompleted(source: Optional(Pipeline.LoadSource.network), error: nil)",
            ])
    }

    @Test("Once a load has thrown CancellationError, its observer hears nothing more")
    func silentAfterCancellation() async throws {
        let (entered, mayGoOn, late) = (Gate(), Barrier(), Counter())
        let hasThrown = Counter()
        let pipeline = pipeline(before: { load in
            for received in 1...3 { load.report(.progress(received: received, expected: 3)) }
        })
        // Blocks inside its observer, on the thread of the flight or on its own.
        let leaving = Task(executorPreference: ThreadExecutor()) {
            defer { hasThrown.increment() }
            _ = try await pipeline.load(request()) { event in
                if hasThrown.value > 0 { late.increment() }
                guard case .progress(received: 1, _) = event else { return }
                entered.open()
                mayGoOn.wait()
                for _ in 0..<1000 { sched_yield() }
                if hasThrown.value > 0 { late.increment() }
            }
        }
        try await entered.wait()
        leaving.cancel()
        mayGoOn.open()
        await #expect(throws: CancellationError.self) { try await leaving.value }
        gate.open()
        await flights.drain()
        #expect(late.value == 0)
    }

    @Test("Headers, partition, expiry and size keep flights apart")
    func apart() async throws {
        let pipeline = pipeline()
        var requests = Array(repeating: request(), count: 3)
        requests[1].partition = "tenant"
        requests[2].headers = [.authorization: "Bearer x"]
        let tasks = requests.map { request in Task { try await pipeline.load(request) } }
        await flights.reaches(waiters: 6)
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(self.requests.value == 3)
    }
}

extension WriteOrder {
    fileprivate var isEmpty: Bool { fetches.isEmpty && joinable.isEmpty && loads.isEmpty && kept.isEmpty }
}

extension Flights {
    /// Gives other tasks their turn until this many wait, those of the flights inside others included. A load that has joined
    /// a flight and doesn't wait yet isn't told yet of a change of its priority.
    func reaches(waiters wanted: Int) async {
        var waiting: Int {
            state.withLock {
                $0.work.works.values.reduce(0) { $0 + $1.waiters.values.count { $0.waiter.isSuspended } }
            }
        }
        while waiting < wanted { await Task.yield() }
    }

    /// Whether all flights are forgotten.
    var isForgotten: Bool {
        state.withLock { $0.work.works.isEmpty && $0.work.joinable.isEmpty && $0.writes.isEmpty }
    }
}

extension WorkWaiter {
    fileprivate var isSuspended: Bool { result.isSuspended || begun?.start.isSuspended == true }
}

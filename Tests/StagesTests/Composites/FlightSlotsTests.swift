import Foundation
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@testable import Stages

@Suite("Flights that wait for their turn")
struct FlightSlotsTests {
    private let gate = Gate()
    private let begun = Lock<[String]>([])
    private let running = Counter()

    /// A list whose flights begin, wait for the gate, and end.
    private func pipeline(
        _ flights: Flights, memory: MemoryCache = MemoryCache(),
        work: (@Sendable (inout Load) async throws -> Void)? = nil
    ) -> ImagePipeline {
        ImagePipeline { [gate, begun, running] in
            ResolveIdentifier()
            MemoryLookup(memory)
            Coalesce(flights, by: .variant) {
                Coalesce(flights, by: .source) {
                    StubStage("Fetch") { load in
                        begun.withLock { $0.append(load.name) }
                        running.increment()
                        defer { running.decrement() }
                        if let work { try await work(&load) } else { try await gate.wait() }
                        load.advance(to: .original(EncodedImage(bytes: [1])), from: .network)
                        return .done
                    }
                }
                StubStage("Decode", accepts: .original) { load in
                    load.advance(to: .decoded(.filled(9)))
                    return .done
                }
                Store(memory, nil)
            }
        }
    }

    private func request(_ name: String, _ priority: LoadPriority = .normal) -> ImageRequest {
        ImageRequest(.dataURL(name), priority: priority)
    }

    private func begins(_ count: Int) async {
        while begun.withLock({ $0.count }) < count { await Task.yield() }
    }

    @Test("Up to the limit run at once, and every one of them ends")
    func bounded() async throws {
        let flights = Flights(maximumConcurrent: 3)
        let most = Lock(0)
        let pipeline = pipeline(flights) { [gate, running] _ in
            most.withLock { $0 = max($0, running.value) }
            try await gate.wait()
        }
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 0..<200 {
                group.addTask { try await pipeline.load(ImageRequest(.dataURL("\(number)"))).image?.width }
            }
            while flights.waiting < 197 { await Task.yield() }
            await begins(3)
            #expect(begun.withLock { $0.count } == 3)
            gate.open()
            for try await width in group { #expect(width == 9) }
        }
        #expect(most.withLock { $0 } == 3)
        #expect(begun.withLock { $0.count } == 200)
        await flights.drain()
        #expect(flights.isForgotten && flights.waiting == 0 && flights.count == 0)
    }

    @Test("Whose turn it is says the priority, as it was set meanwhile, and then the order of arrival")
    func order() async throws {
        let flights = Flights(maximumConcurrent: 1)
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: "/nowhere"), flights: flights, client: CurlClient())
        let pipeline = pipeline(flights)
        let loader = try ImageLoader(resources) { _, _ in pipeline }
        var tasks: [ImageTask] = []
        for (number, wanted) in [
            ("first", .normal), ("low", .low), ("normal", .normal), ("late", .normal), ("raised", .veryLow),
            ("lowered", .high), ("high", .high), ("raised", .low),
        ] as [(String, LoadPriority)] {
            tasks.append(loader.task(for: .dataURL(number), options: LoadOptions(priority: wanted)))
        }
        #expect(flights.waiting == 6)
        tasks[7].priority = .veryHigh
        tasks[5].priority = .veryLow
        gate.open()
        for task in tasks { _ = try await task.response }
        #expect(begun.withLock { $0 } == ["first", "raised", "high", "normal", "late", "low", "lowered"])
    }

    @Test("Flights of low priority leave room for others")
    func modest() async throws {
        let flights = Flights(maximumConcurrent: 4)
        let pipeline = pipeline(flights)
        let low = (0..<9).map { number in Task { try await pipeline.load(request("low \(number)", .low)) } }
        while flights.waiting < 6 { await Task.yield() }
        let visible = Task { try await pipeline.load(request("visible")) }
        await begins(4)
        #expect(begun.withLock { $0.contains("visible") })
        // Raised, it takes no more than what is free.
        #expect(flights.waiting == 6)
        gate.open()
        for task in low + [visible] { _ = try await task.value }
    }

    @Test("A load that is cancelled while it waits returns at once and never begins; the others keep their turns")
    func cancelled() async throws {
        let flights = Flights(maximumConcurrent: 1)
        let pipeline = pipeline(flights)
        let first = Task { try await pipeline.load(request("first")) }
        await begins(1)
        let leaving = Task { try await pipeline.load(request("given up")) }
        while flights.waiting < 1 { await Task.yield() }
        let shared = (0..<2).map { _ in Task { try await pipeline.load(request("shared")) } }
        await flights.reaches(waiters: 5)
        leaving.cancel()
        shared[0].cancel()
        // The gate is closed: only the cancellations can end these waits.
        await #expect(throws: CancellationError.self) { try await leaving.value }
        await #expect(throws: CancellationError.self) { try await shared[0].value }
        #expect(flights.waiting == 1)
        gate.open()
        _ = try await (first.value, shared[1].value)
        #expect(begun.withLock { $0 } == ["first", "shared"])
        await flights.drain()
        #expect(flights.isForgotten)
    }

    @Test("A flight has the task-local values of the load that began it, also if that has waited or left")
    func taskLocals() async throws {
        let flights = Flights(maximumConcurrent: 1)
        let seen = Lock<[String: String]>([:])
        let pipeline = pipeline(flights) { [gate] load in
            seen.withLock { [name = load.name] in $0[name] = Self.caller }
            try await gate.wait()
        }
        func begin(_ name: String, as caller: String) -> Task<LoadResponse, any Error> {
            Self.$caller.withValue(caller) { Task { try await pipeline.load(request(name)) } }
        }
        let first = begin("first", as: "A")
        await begins(1)
        let waiting = begin("waiting", as: "B")
        while flights.waiting < 1 { await Task.yield() }
        let leaving = begin("left", as: "C")
        while flights.waiting < 2 { await Task.yield() }
        let joining = begin("left", as: "D")
        await flights.reaches(waiters: 5)
        leaving.cancel()
        gate.open()
        for load in [first, waiting, joining] { _ = try await load.value }
        #expect(seen.withLock { $0 } == ["first": "A", "waiting": "B", "left": "C"])
        await flights.drain()
        #expect(flights.isForgotten)
    }

    @TaskLocal private static var caller = ""

    @Test("A flight that fails, and one that is cancelled, give their places to the next")
    func failing() async throws {
        let flights = Flights(maximumConcurrent: 1)
        let pipeline = pipeline(flights) { [gate] load in
            try await gate.wait()
            if load.name == "failing" { throw LoadError(.unreachable, subject: "", "down") }
        }
        let cancelled = Task { try await pipeline.load(request("cancelled")) }
        await begins(1)
        let failing = Task { try await pipeline.load(request("failing")) }
        while flights.waiting < 1 { await Task.yield() }
        let last = Task { try await pipeline.load(request("last")) }
        while flights.waiting < 2 { await Task.yield() }
        cancelled.cancel()
        await begins(2)
        gate.open()
        await #expect(throws: LoadError.self) { try await failing.value }
        #expect(try await last.value.image?.width == 9)
    }

    @Test("What is in memory waits for no turn, nor does what joins a flight under way")
    func memoryAndJoining() async throws {
        let flights = Flights(maximumConcurrent: 1)
        let memory = MemoryCache()
        gate.open()
        let blocked = Gate()
        let pipeline = pipeline(flights, memory: memory) { load in
            if load.name != "kept" { try await blocked.wait() }
        }
        _ = try await pipeline.load(request("kept"))
        let holding = Task { try await pipeline.load(request("holding")) }
        await begins(2)
        let joining = Task { try await pipeline.load(request("holding")) }
        await flights.reaches(waiters: 3)
        #expect(flights.waiting == 0)
        #expect(try await pipeline.load(request("kept")).source == .memory)
        blocked.open()
        _ = try await (holding.value, joining.value)
    }

    @Test("A load that a flight makes for itself waits for no turn, nor does a flight that another one waits for")
    func inside() async throws {
        let flights = Flights(maximumConcurrent: 1)
        let inner = pipeline(flights)
        let waits = Gate()
        let outer = pipeline(flights) { load in
            try await waits.wait()
            // Like a stage that loads a watermark.
            _ = try await inner.load(ImageRequest(.dataURL("mark")))
            _ = try await inner.load(ImageRequest(.dataURL("shared mark")))
        }
        let first = Task { try await outer.load(request("first")) }
        await begins(1)
        let waiting = Task { try await inner.load(request("shared mark")) }
        while flights.waiting < 1 { await Task.yield() }
        gate.open()
        waits.open()
        _ = try await (first.value, waiting.value)
        #expect(begun.withLock { $0 } == ["first", "mark", "shared mark"])
        await flights.drain()
        #expect(flights.isForgotten)
    }

    @Test("Cancelling every flight ends those that wait, and later ones find their places")
    func cancelAll() async throws {
        let flights = Flights(maximumConcurrent: 2)
        let pipeline = pipeline(flights)
        let tasks = (0..<10).map { number in Task { try await pipeline.load(request("\(number)")) } }
        while flights.waiting < 8 { await Task.yield() }
        await flights.cancelAll()
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(flights.isForgotten && flights.count == 0 && flights.waiting == 0)
        gate.open()
        for number in 0..<3 { _ = try await pipeline.load(request("again \(number)")) }
    }
}

extension Load {
    /// What this suite calls the image.
    fileprivate var name: String { if case .dataURL(let name) = request.source { name } else { "" } }
}

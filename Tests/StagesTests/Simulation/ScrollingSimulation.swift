import Essentials
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineTesting
import TestFixtures

@testable import Stages

/// One run of a list that is scrolled at random, with prefetching, cancellations and faults, decided by a seed.
final class ScrollingSimulation {
    struct Report: Sendable, Equatable {
        var breaches: [String]
        var requests: Int
        var digest: UInt64
    }

    private let world: SimulatedWorld
    private let executor: SeededExecutor
    private var generator: SeededGenerator
    private let flights: Flights
    private let memory = MemoryCache(byteLimit: 600)
    private let observer: SimulatedObserver

    private init(seed: UInt64) {
        world = SimulatedWorld(seed: seed)
        executor = SeededExecutor(seed: seed)
        generator = SeededGenerator(seed: seed &* 31 &+ 7)
        // Mostly few at once, so that loads wait for their turn.
        flights = Flights(executor: executor, maximumConcurrent: [1, 3, 8, 1024][Int(seed % 4)])
        observer = SimulatedObserver(world, executor, flights, memory)
    }

    /// Runs a seed. Nothing in it waits for anything outside, so it is over when this returns.
    static func run(seed: UInt64, steps: Int = 40) -> Report {
        let simulation = ScrollingSimulation(seed: seed)
        simulation.scroll(steps: steps)
        let world = simulation.world
        return Report(breaches: world.breaches, requests: world.requests, digest: world.digest)
    }

    private func scroll(steps: Int) {
        weak var list: SimulatedList?
        weak var gone: ImageLoader?
        do {
            // Its arrangement is one written-out list, which suits every policy.
            guard let loader = try? loader() else { return }
            // Every third run is left in peace.
            if !world.seed.isMultiple(of: 3) { observer.meddle(with: loader) }
            let scrolled = SimulatedList(executor, world, loader)
            let prefetcher = Prefetcher(loader, maximumConcurrentLoads: 3, options: LoadOptions(maxPixelSize: 2))
            (list, gone) = (scrolled, loader)
            var tasks: [ImageTask] = []
            perform { await scrolled.scroll(to: 0) }
            for _ in 0..<steps { step(scrolled, prefetcher, loader, &tasks) }
            settle()
            finish(scrolled, prefetcher, loader, &tasks)
        }
        // What the last tasks held on to goes with them.
        executor.run()
        memory.reset()
        check(list == nil, "the list is kept alive")
        check(gone == nil, "the loader is kept alive")
        check(memory.count == 0 && memory.byteCount == 0, "the memory cache is not empty")
    }

    private func step(
        _ list: SimulatedList, _ prefetcher: Prefetcher, _ loader: ImageLoader, _ tasks: inout [ImageTask]
    ) {
        let place = chance(SimulatedList.visible)
        switch chance(20) {
        case 0..<6:
            let rows = chance(25) - 8
            perform { await list.scroll(by: rows) }
        case 6:
            let row = chance(SimulatedList.rows)
            perform { await list.scroll(to: row) }
        case 7..<10:
            perform { [world] in prefetcher.start(await list.next.map { world.url(SimulatedList.number($0)) }) }
        case 10: perform { [world] in prefetcher.stop(await list.next.map { world.url(SimulatedList.number($0)) }) }
        case 11: perform { await list.cancel(place) }
        case 12: perform { await list.reload(place) }
        case 13: tasks.append(loader.task(for: world.url(chance(200)), options: LoadOptions(maxPixelSize: 4)))
        case 14: if !tasks.isEmpty { tasks[chance(tasks.count)].cancel() }
        case 15: if !tasks.isEmpty { tasks[chance(tasks.count)].priority = LoadPriority.allCases[chance(5)] }
        case 16: prefetcher.isPaused ? prefetcher.resume() : prefetcher.pause()
        case 17: memory.reset()
        case 18: pass(.seconds(70))
        default: pass(.milliseconds(chance(400)))
        }
        // Sometimes the user is faster than the program.
        executor.run(atMost: chance(3) == 0 ? chance(40) : .max)
        if chance(2) == 0 { pass(.milliseconds(chance(120))) }
    }

    /// Lets everything come to its end, and sees that nobody waits any more.
    private func settle() {
        executor.run()
        while let due = world.clock.nextDue { pass(max(due, .milliseconds(1))) }
    }

    private func finish(
        _ list: SimulatedList, _ prefetcher: Prefetcher, _ loader: ImageLoader, _ tasks: inout [ImageTask]
    ) {
        let unanswered = Lock(0)
        perform {
            let count = await list.unanswered
            unanswered.withLock { $0 = count }
        }
        executor.run()
        check(unanswered.withLock { $0 } == 0, "\(unanswered.withLock { $0 }) cells have no response")
        check(tasks.allSatisfy { $0.result != nil }, "a task has no result")

        // Those of the observer, some of them cancelled.
        let others = observer.stop()
        settle()
        check(others.allSatisfy { $0.result != nil }, "a task of the observer has no result")

        // Once more at full speed, and then all is given up at once.
        memory.reset()
        pass(.seconds(70))
        perform { await list.scroll(to: 500) }
        prefetcher.resume()
        prefetcher.start((0..<50).map { world.url($0) })
        tasks = (0..<20).map { loader.task(for: world.url(100 + $0)) }
        executor.run(atMost: chance(200))
        perform { await list.cancelAll() }
        prefetcher.stopAll()
        for task in tasks { task.cancel() }
        executor.run()
        check(world.clock.sleeperCount == 0, "\(world.clock.sleeperCount) waits go on after all was cancelled")
        check(world.isIdle, "a request continues after all was cancelled")
        check(flights.count == 0 && flights.isForgotten, "a flight continues after all was cancelled")
        check(flights.waiting == 0, "a flight still waits for its turn after all was cancelled")
        check(tasks.allSatisfy { $0.result != nil }, "a cancelled task has no result")
        tasks = []
    }

    private func pass(_ time: Duration) {
        world.clock.advance(by: time)
        executor.run()
    }

    /// Does something as the user, who does one thing after the other, however busy the program is.
    private func perform(_ action: @escaping @Sendable () async -> Void) {
        let isDone = Lock(false)
        Task(executorPreference: executor) {
            await action()
            isDone.withLock { $0 = true }
        }
        while !isDone.withLock({ $0 }), executor.waiting > 0 { executor.run(atMost: 1) }
    }

    private func chance(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &generator) }

    private func check(_ holds: Bool, _ breach: @autoclosure () -> String) { if !holds { world.breach(breach()) } }

    /// A loader over a list of the real stages, except that what is on disk and what is decoded are only numbers.
    private func loader() throws -> ImageLoader {
        let (world, memory, flights, observer) = (world, memory, flights, observer)
        let responses = HTTPCache(folder: "/nowhere", clock: world.clock)
        let client = SimulatedOrigin(world: world)
        let resources = PipelineResources(
            memory: memory, responses: responses, flights: flights, client: client)
        return try ImageLoader(resources, observers: [observer]) { _, _ in
            ImagePipeline(clock: world.clock) {
                ResolveIdentifier()
                MemoryLookup(memory)
                Coalesce(flights, by: .variant) {
                    StubStage("Lookup", accepts: .empty, produces: [.empty, .original]) { load in
                        guard case .url(let url) = load.request.source else { return .skipped }
                        load.attach(SimulatedAttachment(flights))
                        try await world.clock.sleep(for: .milliseconds(world.chance(0..<3)))
                        guard world.isFresh(world.number(url)) else { return .miss }
                        load.advance(to: .original(EncodedImage(bytes: [UInt8(world.number(url))])), from: .disk)
                        return .hit
                    }
                    Coalesce(flights, by: .source) { Fetch(client) }
                    StubStage("Decode", accepts: .original, produces: .decoded) { load in
                        guard case .original(let file) = load.content, let number = file.bytes.first else {
                            throw LoadError(.undecodable, subject: load.subject, "There is nothing in it.")
                        }
                        try await world.clock.sleep(for: .milliseconds(world.chance(0..<20)))
                        if world.chance(0..<30) == 0 { throw SimulatedAttachment(flights) }
                        let size = load.request.maxPixelSize ?? 2
                        load.advance(to: .decoded(.filled(size, with: [number])))
                        return .done
                    }
                    StubStage("Store", accepts: .decoded, produces: .ready) { load in
                        guard let product = load.content.product, let key = load.variantKey,
                            case .url(let url) = load.request.source
                        else { return .skipped }
                        if load.source == .network, load.mayStore, let right = load.attachment(WriteRight.self),
                            right.claim()
                        {
                            await Task.yield()
                            if load.mayStore { world.store(world.number(url)) }
                            right.stored()
                        }
                        let validity = Validity(storedAt: world.clock.now)
                        if load.mayStore {
                            memory.insert(
                                MemoryEntry(product: product, validity: validity), for: key, now: world.clock.now)
                        }
                        load.advance(to: .ready(product))
                        return .done
                    }
                }
            }
        }
    }
}

extension Load {
    /// Whether its source was not removed since it set out.
    fileprivate var mayStore: Bool {
        guard let key = sourceKey, let start = attachment(LoadStart.self) else { return true }
        return start.mayStore(key)
    }
}

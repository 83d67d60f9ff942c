import Essentials
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineTesting

@testable import Stages

/// An observer as bad as they come: by chance it is slow, so that everything else continues meanwhile, and comes back to the
/// loader from inside: it begins loads, cancels them, changes their priority and removes images.
final class SimulatedObserver: LoadObserver {
    private struct State {
        weak var loader: ImageLoader?
        var tasks: [ImageTask] = []
        var depth = 0
    }

    private let world: SimulatedWorld
    private let executor: SeededExecutor
    private let flights: Flights
    private let memory: MemoryCache
    private let state = Lock(State())

    init(_ world: SimulatedWorld, _ executor: SeededExecutor, _ flights: Flights, _ memory: MemoryCache) {
        (self.world, self.executor, self.flights, self.memory) = (world, executor, flights, memory)
    }

    /// Begins to meddle with a loader.
    func meddle(with loader: ImageLoader) { state.withLock { $0.loader = loader } }

    /// Meddles no more.
    /// - Returns: the loads that it has begun.
    func stop() -> [ImageTask] {
        let (tasks, _) = state.withLock { state in
            defer { (state.tasks, state.loader) = ([], nil) }
            return (state.tasks, state.loader)
        }
        return tasks
    }

    func observe(_ observation: LoadObservation) {
        let depth = state.withLock { state in
            state.depth += 1
            return state.loader == nil ? .max : state.depth
        }
        defer { state.withLock { $0.depth -= 1 } }
        guard depth <= 3, world.chance(0..<4) == 0 else { return }
        act()
        // Inside the list nothing else of the list can run.
        if !world.isInList { wait() }
        if world.chance(0..<2) == 0 { act() }
    }

    /// Lets time pass and others run, as where an observer blocks.
    private func wait() {
        world.clock.advance(by: .milliseconds(world.chance(0..<60)))
        executor.run(atMost: world.chance(0..<60))
    }

    private func act() {
        let (loader, tasks) = state.withLock { ($0.loader, $0.tasks) }
        let task = tasks.isEmpty ? nil : tasks[world.chance(0..<tasks.count)]
        let number = world.chance(0..<200)
        switch world.chance(0..<8) {
        case 0..<3:
            guard let loader else { return }
            let begun = loader.task(for: world.url(number), options: LoadOptions(maxPixelSize: 2))
            state.withLock { $0.tasks.append(begun) }
        case 3..<6: task?.cancel()
        case 6: task?.priority = LoadPriority.allCases[world.chance(0..<5)]
        default:
            // As `ImageLoader.remove(_:)` does, which would wait for a disk.
            guard let key = SourceKey(ImageRequest(ImageSource(world.url(number)))) else { return }
            let fetches = flights.state.withLock { state in
                state.work.works.values.count { $0.handle.key.isFetch && $0.handle.key.source == key }
            }
            world.remove(number, fetches: fetches)
            flights.noteRemoval(of: key)
            memory.remove(key)
        }
    }
}

/// What a user's stage attaches, or fails with: its release comes back to the flights.
final class SimulatedAttachment: LoadAttachment, Error {
    private let flights: Flights

    init(_ flights: Flights) { self.flights = flights }

    deinit {
        HeldLocks.requireNone()
        _ = flights.count
    }
}

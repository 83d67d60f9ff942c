import Pipeline

/// The sources that a ``Prefetcher`` has yet to load, in order, and those under way.
final class PrefetchQueue: Sendable {
    private struct Wanted {
        /// Tells this request for the source from earlier ones that were stopped.
        let number: UInt64
        /// See ``Flights/cancellations``.
        let cancellations: Int
        /// All but the priority, which is the queue's.
        let options: LoadOptions
    }

    private struct State {
        /// In order. A stopped source stays until its turn comes, and is skipped then.
        var waiting: Queue<(source: ImageSource, number: UInt64)> = []
        /// The sources that wait or are under way.
        var wanted: [ImageSource: Wanted] = [:]
        var running: [UInt64: Task<Void, Never>] = [:]
        var active = 0
        var lastNumber: UInt64 = 0
        var isPaused = false
        var progress = PrefetchProgress.Element()
        var version = 0
        var listeners: [Waiter<Void>] = []

        mutating func number() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    let priority: AdjustablePriority
    private let loader: ImageLoader
    private let limit: Int
    private let state = Lock(State())

    init(_ loader: ImageLoader, limit: Int, priority: LoadPriority) {
        self.loader = loader
        self.limit = limit
        self.priority = AdjustablePriority(priority)
    }

    var isPaused: Bool { state.withLock { $0.isPaused } }

    func start(_ sources: [ImageSource], _ options: LoadOptions) {
        dropCancelled()
        let cancellations = loader.resources.flights.cancellations
        change { state in
            if state.wanted.isEmpty { state.progress = .init() }
            for source in sources where state.wanted[source] == nil {
                let number = state.number()
                state.wanted[source] = Wanted(number: number, cancellations: cancellations, options: options)
                state.waiting.append((source, number))
                state.progress.total += 1
            }
        }
        fill()
    }

    func stop(_ sources: [ImageSource]) {
        drop { state in sources.filter { state.wanted[$0] != nil } }
        fill()
    }

    /// Drops sources that were requested before the caches were last cleared. Loading them would only fill the caches
    /// again.
    private func dropCancelled() {
        let cancellations = loader.resources.flights.cancellations
        drop { state in state.wanted.filter { $0.value.cancellations != cancellations }.map(\.key) }
    }

    /// Forgets the chosen sources, and cancels those under way.
    private func drop(_ chosen: (State) -> [ImageSource]) {
        guard state.withLock({ !$0.wanted.isEmpty }) else { return }
        let tasks = change { state -> [Task<Void, Never>] in
            let numbers = chosen(state).compactMap { state.wanted.removeValue(forKey: $0)?.number }
            state.progress.total -= numbers.count
            // Stopped sources are skipped later, unless they are most of the line: then they are removed now.
            if state.waiting.count > 2 * state.wanted.count + 64 {
                state.waiting.removeAll { [wanted = state.wanted] in wanted[$0.source]?.number != $0.number }
            }
            return numbers.compactMap { state.running[$0] }
        }
        for task in tasks { task.cancel() }
    }

    func stopAll() {
        let tasks = change { state -> [Task<Void, Never>] in
            state.waiting = []
            state.progress.total -= state.wanted.count
            state.wanted = [:]
            return state.running.keys.sorted().compactMap { state.running[$0] }
        }
        for task in tasks { task.cancel() }
    }

    func pause(_ isPaused: Bool) {
        state.withLock { $0.isPaused = isPaused }
        dropCancelled()
        fill()
    }

    /// Starts loads up to the limit.
    private func fill() {
        while let (source, number, options) = next() {
            let task = Task(executorPreference: loader.resources.flights.executor, priority: .low) {
                // A prefetch is never part of a flight, even if a stage or an observer requested it.
                await CurrentFlight.$outermost.withValue(nil) {
                    await AdjustablePriority.$inherited.withValue(self.priority) {
                        await self.load(source, number, options)
                    }
                }
            }
            let isOver = state.withLock { state in
                guard state.wanted[source]?.number == number else { return true }
                state.running[number] = task
                return false
            }
            // It was stopped before it was noted here. If it is over already, this does nothing.
            if isOver { task.cancel() }
        }
    }

    private func next() -> (ImageSource, UInt64, LoadOptions)? {
        state.withLock { state in
            guard !state.isPaused, state.active < limit else { return nil }
            while let next = state.waiting.popFirst() {
                guard let wanted = state.wanted[next.source], wanted.number == next.number else { continue }
                state.active += 1
                return (next.source, next.number, wanted.options)
            }
            return nil
        }
    }

    private func load(_ source: ImageSource, _ number: UInt64, _ options: LoadOptions) async {
        var options = options
        options.priority = priority.value
        do {
            _ = try await loader.run(source, options, isPrefetch: true, events: nil)
            end(source, number) { $0.loaded += 1 }
        } catch is CancellationError {
            end(source, number) { $0.total -= 1 }
        } catch {
            end(source, number) { $0.failed += 1 }
        }
        dropCancelled()
        fill()
    }

    private func end(_ source: ImageSource, _ number: UInt64, _ count: (inout PrefetchProgress.Element) -> Void) {
        change { state in
            state.active -= 1
            state.running[number] = nil
            // A stopped source isn't counted any more.
            guard state.wanted[source]?.number == number else { return }
            state.wanted[source] = nil
            count(&state.progress)
        }
    }

    /// Changes the state, and wakes the readers of the progress.
    @discardableResult
    private func change<Result>(_ change: (inout State) -> Result) -> Result {
        let (result, listeners) = state.withLock { state in
            let result = change(&state)
            state.version += 1
            defer { state.listeners = [] }
            return (result, state.listeners)
        }
        for listener in listeners { listener.resume(with: .success(())) }
        return result
    }

    /// The progress, once it is newer than a version; `nil` if it won't be, or the task is cancelled.
    func progress(after version: Int) async -> (Int, PrefetchProgress.Element)? {
        let listener = Waiter<Void>()
        let waits = state.withLock { state in
            guard state.version <= version, !state.wanted.isEmpty else { return false }
            state.listeners.append(listener)
            return true
        }
        if waits { try? await listener.value { listener.resume(with: .failure(CancellationError())) } }
        return state.withLock { state in
            guard !Task.isCancelled, state.version > version else { return nil }
            return (state.version, state.progress)
        }
    }
}

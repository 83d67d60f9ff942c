import Pipeline

/// What a ``Prefetcher`` has to load, in order, and what of it is under way.
final class PrefetchQueue: Sendable {
    private enum Listener {
        case waiting(CheckedContinuation<Void, Never>)
        case cancelled
    }

    private struct State {
        var waiting: [ImageSource] = []
        /// What waits or is under way, with the number of its run; see ``Flights/cancellations``.
        var wanted: [ImageSource: UInt64] = [:]
        var running: [UInt64: Task<Void, Never>] = [:]
        var active = 0
        var cancellations = 0
        var lastNumber: UInt64 = 0
        var isPaused = false
        var progress = PrefetchProgress.Element()
        var version = 0
        var listeners: [UInt64: Listener] = [:]

        mutating func number() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    let priority: AdjustablePriority
    private let loader: ImageLoader
    private let pipeline: ImagePipeline
    private let options: LoadOptions
    private let limit: Int
    private let state = Lock(State())

    init(
        _ loader: ImageLoader, _ pipeline: ImagePipeline, options: LoadOptions, limit: Int, priority: LoadPriority
    ) {
        self.loader = loader
        self.pipeline = pipeline
        self.options = options
        self.limit = limit
        self.priority = AdjustablePriority(priority)
    }

    var isPaused: Bool { state.withLock { $0.isPaused } }

    func start(_ sources: [ImageSource]) {
        let cancellations = loader.resources.flights.cancellations
        change { state in
            if state.wanted.isEmpty {
                state.progress = .init()
                state.cancellations = cancellations
            }
            for source in sources where state.wanted[source] == nil {
                state.wanted[source] = state.number()
                state.waiting.append(source)
                state.progress.total += 1
            }
        }
        fill()
    }

    func stop(_ sources: [ImageSource]) {
        let stopped = Set(sources)
        let tasks = change { state -> [Task<Void, Never>] in
            state.waiting.removeAll { stopped.contains($0) }
            return sources.compactMap { source in
                guard let number = state.wanted.removeValue(forKey: source) else { return nil }
                state.progress.total -= 1
                return state.running[number]
            }
        }
        for task in tasks { task.cancel() }
        fill()
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
        fill()
    }

    /// Begins loads as long as there is room.
    private func fill() {
        while let (source, number) = next() {
            let task = Task(executorPreference: loader.resources.flights.executor, priority: .low) {
                await AdjustablePriority.$current.withValue(self.priority) {
                    await self.load(source, number)
                }
            }
            let isOver = state.withLock { state in
                guard state.wanted[source] == number else { return true }
                state.running[number] = task
                return false
            }
            // Stopped before it was on the books, or over already; then this does nothing.
            if isOver { task.cancel() }
        }
    }

    private func next() -> (ImageSource, UInt64)? {
        state.withLock { state in
            guard !state.isPaused, state.active < limit, let source = state.waiting.first,
                let number = state.wanted[source]
            else { return nil }
            state.waiting.removeFirst()
            state.active += 1
            return (source, number)
        }
    }

    private func load(_ source: ImageSource, _ number: UInt64) async {
        do {
            _ = try await loader.run(pipeline, options.request(for: source), isPrefetch: true, events: nil)
            end(source, number) { $0.loaded += 1 }
        } catch is CancellationError {
            end(source, number) { $0.total -= 1 }
        } catch {
            end(source, number) { $0.failed += 1 }
        }
        // Clearing the caches cancels what is under way; what was to follow would fill them again.
        let cancellations = loader.resources.flights.cancellations
        if state.withLock({ $0.cancellations != cancellations }) { stopAll() }
        fill()
    }

    private func end(_ source: ImageSource, _ number: UInt64, _ count: (inout PrefetchProgress.Element) -> Void) {
        change { state in
            state.active -= 1
            state.running[number] = nil
            // Stopped ones are not counted any more.
            guard state.wanted[source] == number else { return }
            state.wanted[source] = nil
            count(&state.progress)
        }
    }

    /// Changes what is to be done and tells who reads the progress.
    @discardableResult
    private func change<Result>(_ change: (inout State) -> Result) -> Result {
        let (result, listeners) = state.withLock { state in
            let result = change(&state)
            state.version += 1
            defer { state.listeners = state.listeners.filter { if case .cancelled = $0.value { true } else { false } } }
            return (result, state.listeners.sorted { $0.key < $1.key }.map(\.value))
        }
        for case .waiting(let continuation) in listeners { continuation.resume() }
        return result
    }

    /// The progress, once it is newer than a version; `nil` if it won't be, or the task is cancelled.
    func progress(after version: Int) async -> (Int, PrefetchProgress.Element)? {
        let number = state.withLock { $0.number() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.version <= version, !state.wanted.isEmpty, state.listeners[number] == nil else {
                        return false
                    }
                    state.listeners[number] = .waiting(continuation)
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            let listener = state.withLock { $0.listeners.updateValue(.cancelled, forKey: number) }
            if case .waiting(let continuation) = listener { continuation.resume() }
        }
        return state.withLock { state in
            let isCancelled = state.listeners.removeValue(forKey: number) != nil
            guard !isCancelled, state.version > version else { return nil }
            return (state.version, state.progress)
        }
    }
}

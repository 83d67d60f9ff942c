import Pipeline
import PipelineHTTP
import Stages

/// This machine's own tiers, and which invalidations they have seen.
final class FleetMembers: Sendable {
    private struct State {
        var resources: [PipelineResources] = []
        /// The number of the last invalidation that was seen.
        var seen: Int64 = 0
        /// Tells the server's data from those after a restart that has lost them; `nil` before the first connection.
        var data: String?
        /// Whether some may be missing, so that a later number doesn't show that all before it were seen.
        var isBehind = false
        var willRetry = false
    }

    private enum Step {
        case changed(FleetMessages.Change)
        /// The invalidations that were missed couldn't be read a moment ago.
        case retry
    }

    /// The most invalidations that Redis notes, and for how long, in microseconds.
    static let mostNoted = 10_000
    static let noteTime: Int64 = 86_400_000_000

    private let store: RedisStore
    private let reports: FleetReports
    private let clock: any LoadClock
    private let state = Lock(State())
    private let order: AsyncStream<Step>.Continuation
    private let applying = Lock<Task<Void, Never>?>(nil)

    init(_ store: RedisStore, _ reports: FleetReports, clock: any LoadClock) {
        self.store = store
        self.reports = reports
        self.clock = clock
        let (steps, order) = AsyncStream.makeStream(of: Step.self)
        self.order = order
        // One after the other, in the order of the messages.
        let task = Task { [weak self] in
            for await step in steps {
                switch step {
                case .changed(let change): await self?.apply(change)
                case .retry: await self?.retry()
                }
            }
        }
        applying.withLock { $0 = task }
    }

    deinit { close() }

    /// Takes no further change.
    func close() { order.finish() }

    /// Waits until the changes that had arrived before ``close()`` are applied.
    func ended() async { await applying.withLock(\.self)?.value }

    func add(_ resources: PipelineResources) { state.withLock { $0.resources.append(resources) } }

    /// Takes a change from the connection for messages.
    func take(_ change: FleetMessages.Change) { order.yield(.changed(change)) }

    private func apply(_ change: FleetMessages.Change) async {
        switch change {
        case .connected: await catchUp()
        case .invalidated(let number, let target):
            see(number)
            await remove(target)
            reports.report(.invalidated)
        }
    }

    /// Removes the responses of a URL or a tag from this machine's tiers: from memory at once, then from disk.
    func remove(_ target: String) async {
        for resources in state.withLock(\.resources) { await resources.responses.remove(target: target) }
    }

    private func retryLater() {
        let isDue = state.withLock { state in
            defer { state.willRetry = true }
            return !state.willRetry
        }
        guard isDue else { return }
        Task { [clock, order] in
            try? await clock.sleep(untilLimit: .seconds(1))
            order.yield(.retry)
        }
    }

    private func retry() async {
        let isBehind = state.withLock { state in
            state.willRetry = false
            return state.isBehind
        }
        if isBehind { await catchUp(isRetry: true) }
    }

    /// Applies invalidations that were missed. If not all of them are known, memory is emptied. If they can't be read,
    /// this is tried again each second; what memory gets meanwhile may then still be removed.
    private func catchUp(isRetry: Bool = false) async {
        let (seen, data) = state.withLock { state in
            state.isBehind = true
            return (state.seen, state.data)
        }
        let missed = try? await store.missed(since: seen)
        let isComplete = missed.map { data == nil || $0.data == data && $0.isComplete } ?? isRetry
        if !isComplete {
            for resources in state.withLock(\.resources) { resources.memory.reset() }
            reports.report(.droppedMemory)
        }
        guard let missed else { return retryLater() }
        state.withLock { state in
            // The numbers of other data may be smaller, if the server's clock was set back.
            if state.data != missed.data { state.seen = 0 }
            state.data = missed.data
        }
        for (number, target) in missed.targets {
            await apply(.invalidated(number: number, target: target))
        }
        state.withLock { $0.isBehind = false }
        see(missed.until)
        reports.report(.listening)
    }

    /// Notes that no invalidation up to a number is missing. A number from tomorrow is nobody's: it would hide every
    /// later invalidation, so it is ignored.
    private func see(_ number: Int64) {
        guard number <= clock.now.microsecondsSince1970.clampedSum(Self.noteTime) else { return }
        state.withLock { if !$0.isBehind { $0.seen = max($0.seen, number) } }
    }
}

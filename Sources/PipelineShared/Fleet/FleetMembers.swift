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
    }

    /// The most invalidations that Redis notes, and for how long, in microseconds.
    static let mostNoted = 10_000
    static let noteTime: Int64 = 86_400_000_000

    private let store: RedisStore
    private let reports: FleetReports
    private let clock: any LoadClock
    private let state = Lock(State())
    private let order: AsyncStream<FleetMessages.Change>.Continuation

    init(_ store: RedisStore, _ reports: FleetReports, clock: any LoadClock) {
        self.store = store
        self.reports = reports
        self.clock = clock
        let (changes, order) = AsyncStream.makeStream(of: FleetMessages.Change.self)
        self.order = order
        // One after the other, in the order of the messages.
        Task { [weak self] in
            for await change in changes { await self?.apply(change) }
        }
    }

    deinit { order.finish() }

    func add(_ resources: PipelineResources) { state.withLock { $0.resources.append(resources) } }

    /// Takes a change from the connection for messages.
    func take(_ change: FleetMessages.Change) { order.yield(change) }

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

    /// Applies invalidations that were missed. If not all of them are known, memory is emptied.
    private func catchUp() async {
        let (seen, data) = state.withLock { ($0.seen, $0.data) }
        let missed = try? await store.missed(since: seen)
        let isComplete = missed.map { data == nil || $0.data == data && $0.isComplete } ?? false
        if !isComplete {
            for resources in state.withLock(\.resources) { resources.memory.reset() }
            reports.report(.droppedMemory)
        }
        defer { reports.report(.listening) }
        guard let missed else { return }
        state.withLock { state in
            // The numbers of other data may be smaller, if the server's clock was set back.
            if state.data != missed.data { state.seen = 0 }
            state.data = missed.data
        }
        for (number, target) in missed.targets {
            await apply(.invalidated(number: number, target: target))
        }
        see(missed.until)
    }

    /// Notes that no invalidation up to a number is missing. A number from tomorrow is nobody's: it would hide every
    /// later invalidation, so it is ignored.
    private func see(_ number: Int64) {
        guard number <= clock.now.microsecondsSince1970.clampedSum(Self.noteTime) else { return }
        state.withLock { $0.seen = max($0.seen, number) }
    }
}

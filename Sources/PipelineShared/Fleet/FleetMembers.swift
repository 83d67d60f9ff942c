import Essentials
import Pipeline
import PipelineHTTP
import Stages

/// This machine's own tiers, and which invalidations they have seen.
///
/// A tier knows whether it has heard every invalidation. While the connection for messages is lost, and until what was missed
/// is caught up on, it takes nothing that it has for granted; see `RemovalKnowledge`.
final class FleetMembers: Sendable {
    private struct Member {
        let resources: PipelineResources
        let knowledge = RemovalKnowledge()
        /// The number of the last invalidation before which none was missed.
        var heard: Int64 = 0
        /// Of earlier requests' responses, some invalidations are lost for good.
        var certainSince = Date.distantPast

        /// Notes that no invalidation up to a number is missing. A number from tomorrow is nobody's: it would hide every
        /// later invalidation, so it is ignored.
        mutating func note(_ number: Int64, at now: Date) {
            guard number <= now.microsecondsSince1970.clampedSum(MissedInvalidations.noteTime) else { return }
            heard = max(heard, number)
        }
    }

    private struct State {
        var members: [Member] = []
        /// Tells the server's data from those after a restart that has lost them; `nil` before the first connection.
        var data: String?
        var isListening = false
        var isClosed = false
        /// What the disks have yet to remove, with the times at which memory did.
        var pending: [(responses: HTTPCache, target: String, time: Date)] = []
        var waiters: [ObjectIdentifier: Waiter<Void>] = [:]
    }

    private let reports: FleetReports
    private let clock: any LoadClock
    private let mayServeUncertain: Bool
    private let state = Lock(State())
    private let removals: AsyncStream<Void>.Continuation
    private let removing = Lock<Task<Void, Never>?>(nil)

    /// - Parameter mayServeUncertain: Whether the tiers are used as before while invalidations may be missed.
    init(_ reports: FleetReports, clock: any LoadClock, mayServeUncertain: Bool) {
        self.reports = reports
        self.clock = clock
        self.mayServeUncertain = mayServeUncertain
        let (signals, removals) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.removals = removals
        let task = Task { [weak self] in
            for await _ in signals { await self?.removePending() }
            await self?.removePending()
        }
        removing.withLock { $0 = task }
    }

    deinit { close() }

    /// Takes no further change. The tiers belong to no fleet any more, and are used as before.
    func close() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.isClosed = true
            for member in state.members { member.knowledge.set(since: .distantPast) }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: .success(())) }
        removals.finish()
    }

    /// Waits until what was heard before ``close()`` is removed from the disks.
    func ended() async { await removing.withLock(\.self)?.value }

    /// Adds tiers.
    /// - Returns: Whether the connection was there before them, so that it doesn't know what they have missed.
    func add(_ resources: PipelineResources) -> Bool {
        let member = Member(resources: resources)
        if !mayServeUncertain {
            resources.responses.follow(member.knowledge)
            resources.memory.follow(member.knowledge)
        }
        return state.withLock { state in
            state.members.append(member)
            if state.isClosed { member.knowledge.set(since: .distantPast) }
            return state.isListening
        }
    }

    /// The number of the last invalidation before which no tier has missed any. Without tiers nothing can be missed.
    var heard: Int64 { state.withLock { $0.members.map(\.heard).min() ?? 1 << 53 } }

    /// Whether all tiers have heard every invalidation.
    private static func isReady(_ state: State) -> Bool {
        state.isListening && !state.isClosed && state.members.allSatisfy { $0.heard > 0 }
    }

    /// Waits until all tiers have heard every invalidation.
    /// - Returns: Whether that is so; false once the limit is over.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func ready(within limit: Duration) async throws -> Bool {
        let waiter = Waiter<Void>()
        let isWaiting = state.withLock { state in
            guard !Self.isReady(state), !state.isClosed else { return false }
            state.waiters[ObjectIdentifier(waiter)] = waiter
            return true
        }
        if isWaiting {
            let limit = Task { [clock] in
                if (try? await clock.sleep(untilLimit: limit)) != nil { waiter.resume(with: .success(())) }
            }
            defer {
                limit.cancel()
                _ = state.withLock { $0.waiters.removeValue(forKey: ObjectIdentifier(waiter)) }
            }
            try await waiter.value { waiter.resume(with: .failure(CancellationError())) }
        }
        return state.withLock { Self.isReady($0) }
    }

    /// Takes a change from the connection for messages, on its thread.
    /// - Returns: Whether some tiers came after the question what was missed, so that it has to be asked again.
    func take(_ change: FleetMessages.Change) -> Bool {
        if state.withLock(\.isClosed) { return false }
        switch change {
        case .listening(let missed): return catchUp(missed)
        case .invalidated(let number, let target):
            let now = clock.now
            state.withLock { state in
                for index in state.members.indices { state.members[index].note(number, at: now) }
            }
            forget([target])
        case .refused(let text): reports.change(.refused(text))
        case .lost(let failure):
            let isClosed = state.withLock { state in
                state.isListening = false
                if !state.isClosed { for member in state.members { member.knowledge.set(since: .distantFuture) } }
                return state.isClosed
            }
            if let failure, !isClosed { reports.hear(failure, servesUncertain: mayServeUncertain) }
        }
        return false
    }

    /// Applies invalidations that were missed. Of those that Redis doesn't know any more, it knows the last: what was
    /// stored before that is confirmed before it is served.
    private func catchUp(_ missed: MissedInvalidations) -> Bool {
        let count = state.withLock(\.members.count)
        // Before the tiers are certain: what they have of these must be gone.
        forget(missed.targets.map(\.target))
        // A response that is stored from now on is certain, whatever the server's clock says. It agrees to two seconds.
        let now = clock.now
        let known = min(now, Date(timeIntervalSince1970: Double(missed.known) / 1e6 + 2))
        let (incomplete, areLate) = state.withLock { state -> ([PipelineResources], Bool) in
            if state.isClosed { return ([], false) }
            let isNewData = state.data.map { $0 != missed.data } ?? false
            state.data = missed.data
            state.isListening = true
            // One that has joined since the question has missed more than the reply holds.
            let places = state.members.indices.prefix(count).filter { state.members[$0].heard >= missed.since }
            var incomplete: [PipelineResources] = []
            for place in places {
                if isNewData || state.members[place].heard < missed.known {
                    // The numbers of other data may be smaller, if the server's clock was set back.
                    state.members[place].certainSince = max(
                        state.members[place].certainSince, isNewData ? now : known)
                    if state.members[place].heard > 0 { incomplete.append(state.members[place].resources) }
                    if isNewData { state.members[place].heard = 0 }
                }
                state.members[place].note(missed.until, at: now)
                state.members[place].knowledge.set(since: state.members[place].certainSince)
            }
            return (incomplete, places.count < state.members.count)
        }
        for resources in incomplete {
            resources.memory.reset()
            reports.report(.droppedMemory)
        }
        let waiters = state.withLock { state in
            guard Self.isReady(state) else { return [Waiter<Void>]() }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: .success(())) }
        reports.hear(nil)
        return areLate
    }

    /// Removes responses from memory at once, and from the disks soon. Until then no lookup finds them there.
    private func forget(_ targets: [String]) {
        guard !targets.isEmpty else { return }
        let caches = state.withLock(\.members).map(\.resources.responses)
        let pending = caches.flatMap { cache in targets.map { (cache, $0, cache.beginRemoval(of: $0)) } }
        state.withLock { $0.pending += pending }
        for _ in targets { reports.report(.invalidated) }
        removals.yield()
    }

    /// Removes from the disks what has left memory. A store commits together what it is given at the same time.
    private func removePending() async {
        let pending = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        await withDiscardingTaskGroup { group in
            for (responses, target, time) in pending {
                group.addTask { await responses.finishRemoval(of: target, at: time) }
            }
        }
    }

    /// Removes the responses of a URL or a tag from this machine's tiers.
    func remove(_ target: String) async {
        for member in state.withLock(\.members) { await member.resources.responses.remove(target: target) }
    }
}

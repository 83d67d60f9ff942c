/// A resource that tasks in a ``WaitingLine`` wait for.
package protocol SharedResource: Sendable {
    /// What a task asks for.
    associatedtype Need: Sendable
    /// What it gets.
    associatedtype Share: Sendable

    /// Takes a share; `nil` if it isn't available.
    mutating func take(_ need: Need, _ priority: LoadPriority) -> Share?
}

/// The line has as many waiting tasks as it may have.
package struct WaitingLineIsFull: Error {}

/// Tasks that wait for their share of a resource: the highest priority first, then first in, first out.
///
/// No task overtakes the first in line, however little it needs, so large needs are met too.
package final class WaitingLine<Resource: SharedResource>: Sendable {
    private final class Request: Sendable {
        let need: Resource.Need
        let waiter = Waiter<Resource.Share>()

        init(_ need: Resource.Need) { self.need = need }
    }

    private struct State {
        var resource: Resource
        var line = PriorityLine<Request>()

        /// Tasks that have their share and are to be resumed.
        var admitted: [(Request, Resource.Share)] = []

        /// Gives shares to the first tasks in line.
        mutating func admitFirst() {
            while let (request, place) = line.first, let share = resource.take(request.need, place.priority) {
                line.remove(request)
                admitted.append((request, share))
            }
        }

        mutating func admit() -> [(Request, Resource.Share)] {
            admitFirst()
            defer { admitted = [] }
            return admitted
        }
    }

    private let state: Lock<State>

    package init(_ resource: Resource) { state = Lock(State(resource: resource)) }

    /// The number of tasks that wait.
    package var count: Int { state.withLock { $0.line.count } }

    /// Takes a share if it is available now and no waiting task is as urgent.
    package func takeNow(_ need: Resource.Need, priority: LoadPriority) -> Resource.Share? {
        state.withLock { state in
            if let first = state.line.first, first.place.priority >= priority { return nil }
            return state.resource.take(need, priority)
        }
    }

    /// Waits for a share. Inside a load, `priority` is only the initial priority: the task follows the load's.
    /// - Parameter limit: How many tasks may wait; no limit by default.
    /// - Throws: `CancellationError` at once if the task is cancelled; ``WaitingLineIsFull``.
    package func take(
        _ need: Resource.Need, priority: LoadPriority, waitingAtMost limit: Int = .max
    ) async throws -> Resource.Share {
        let request = Request(need)
        return try await request.waiter.wait(priority: priority) { priority in
            let isRefused = change { state in
                state.line.enqueue(request, priority)
                // Shares that are available are taken first, so that only tasks that have to wait count.
                state.admitFirst()
                return state.line.count > limit && state.line.remove(request)
            }
            if isRefused { request.waiter.resume(with: .failure(WaitingLineIsFull())) }
        } move: { priority in
            self.change { $0.line.move(request, to: priority) }
        } leave: {
            if self.change({ $0.line.remove(request) }) { request.waiter.resume(with: .failure(CancellationError())) }
        }
    }

    /// Changes the resource, for example to return a share, and admits the tasks whose turn has come.
    package func update(_ body: (inout Resource) -> Void) { change { body(&$0.resource) } }

    /// Reads the resource. May be called under another lock.
    package func read<Result>(_ body: (Resource) -> Result) -> Result {
        state.withLock(isInner: true) { body($0.resource) }
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, admitted) = state.withLock { state in
            let result = body(&state)
            return (result, state.admit())
        }
        for (request, share) in admitted { request.waiter.resume(with: .success(share)) }
        return result
    }
}

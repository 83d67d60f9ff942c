import Synchronization

/// Tells work on one of our threads to stop, since no task waits for it any more or it takes too long. Every long step
/// has to check it.
public final class WorkCancellation: Sendable {
    /// When work with a time limit has to be over.
    ///
    /// A class, because a structure would be copied for every check, and short rows are checked often.
    private final class Deadline: Sendable {
        let outer: WorkCancellation
        let clock: any LoadClock
        let nanoseconds: Int64
        let allowed: Duration

        init(outer: WorkCancellation, clock: any LoadClock, nanoseconds: Int64, allowed: Duration) {
            self.outer = outer
            self.clock = clock
            self.nanoseconds = nanoseconds
            self.allowed = allowed
        }

        var isOver: Bool { clock.uptimeNanoseconds > nanoseconds }
    }

    private let flag = Atomic<Bool>(false)
    private let deadline: Deadline?

    /// Makes one that isn't cancelled.
    public init() { deadline = nil }

    private init(_ deadline: Deadline) { self.deadline = deadline }

    /// Returns the same cancellation with a time limit.
    /// - Parameter used: What earlier work has used of the time. If that is more, the work should stop at once.
    package func limited(
        to time: Duration?, after used: Duration = .zero, by clock: any LoadClock
    ) -> WorkCancellation {
        guard let time else { return self }
        let left = max(.zero, time) - used
        let end = clock.uptimeNanoseconds.addingReportingOverflow(Int64(min(9e18, max(-1, left / .nanoseconds(1)))))
        return WorkCancellation(
            Deadline(outer: self, clock: clock, nanoseconds: end.overflow ? .max : end.partialValue, allowed: time))
    }

    /// Whether the work should stop.
    public var isCancelled: Bool { isAbandoned || deadline?.isOver == true }

    /// Whether no task waits for the work any more.
    private var isAbandoned: Bool { flag.load(ordering: .relaxed) || deadline?.outer.isAbandoned == true }

    /// Asks the work to stop.
    public func cancel() { flag.store(true, ordering: .relaxed) }

    /// Throws if the work should stop.
    /// - Throws: `CancellationError`; ``Pipeline/LoadError/Code/tooMuchTime`` if the work may not take longer.
    public func check() throws {
        if isAbandoned { throw CancellationError() }
        guard let deadline, deadline.isOver else { return }
        throw LoadError(
            .tooMuchTime, subject: "",
            "The image takes longer than the \(deadline.allowed) that are allowed. Raise the limit of time.")
    }
}

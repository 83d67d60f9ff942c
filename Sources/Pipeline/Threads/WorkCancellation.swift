import Synchronization

/// Tells work on a thread of ours that nobody waits for it any more, or that it takes too long. Every long step has to
/// look.
public final class WorkCancellation: Sendable {
    /// When work that may not take for ever has to be over.
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

    /// Not cancelled yet.
    public init() { deadline = nil }

    private init(_ deadline: Deadline) { self.deadline = deadline }

    /// The same cancellation, with a time after which the work has to stop as well.
    package func limited(to time: Duration?, by clock: any LoadClock) -> WorkCancellation {
        guard let time else { return self }
        let end = clock.uptimeNanoseconds.addingReportingOverflow(Int64(min(9e18, max(0, time / .nanoseconds(1)))))
        return WorkCancellation(
            Deadline(outer: self, clock: clock, nanoseconds: end.overflow ? .max : end.partialValue, allowed: time))
    }

    /// Whether the work should stop.
    public var isCancelled: Bool { isAbandoned || deadline?.isOver == true }

    /// Whether nobody waits any more.
    private var isAbandoned: Bool { flag.load(ordering: .relaxed) || deadline?.outer.isAbandoned == true }

    /// Asks the work to stop.
    public func cancel() { flag.store(true, ordering: .relaxed) }

    /// Stops the work here if it should.
    /// - Throws: `CancellationError`; ``Pipeline/LoadError/Code/tooMuchTime`` if the work may not take longer.
    public func check() throws {
        if isAbandoned { throw CancellationError() }
        guard let deadline, deadline.isOver else { return }
        throw LoadError(
            .tooMuchTime, subject: "",
            "The picture takes longer than the \(deadline.allowed) that are allowed. Raise the limit of time.")
    }
}

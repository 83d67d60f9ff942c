package import Foundation
package import Pipeline
import Synchronization
import Testing

/// An hour passes when it has been looked at this many times.
package final class ImpatientClock: LoadClock {
    private let patience: Int
    private let count = Atomic<Int>(0)

    package init(patience: Int) { self.patience = patience }

    package var looks: Int { count.load(ordering: .relaxed) }
    package var now: Date { Date(timeIntervalSince1970: 0) }

    package var uptimeNanoseconds: Int64 {
        count.add(1, ordering: .relaxed).newValue > patience ? 3_600_000_000_000 : 0
    }

    package nonisolated(nonsending) func sleep(for duration: Duration) async throws {}

    /// Does work until the time is up by a clock of such patience.
    /// - Returns: how often it looked, and whether it was stopped.
    package static func looks(
        patience: Int, at work: (WorkCancellation) throws -> Void
    ) throws -> (looks: Int, isStopped: Bool) {
        let clock = ImpatientClock(patience: patience)
        let cancellation = WorkCancellation().limited(to: .seconds(1), by: clock)
        defer { withExtendedLifetime(cancellation) {} }
        do {
            try work(cancellation)
            return (clock.looks, false)
        } catch let error as LoadError {
            #expect(error.code == .tooMuchTime)
            return (clock.looks, true)
        }
    }
}

import Foundation
import Pipeline
import Synchronization
import Testing

import Stages

/// An hour passes when it has been looked at this many times.
final class ImpatientClock: LoadClock {
    private let patience: Int
    private let count = Atomic<Int>(0)

    init(patience: Int) { self.patience = patience }

    var looks: Int { count.load(ordering: .relaxed) }
    var now: Date { Date(timeIntervalSince1970: 0) }

    var uptimeNanoseconds: Int64 {
        count.add(1, ordering: .relaxed).newValue > patience ? 3_600_000_000_000 : 0
    }

    nonisolated(nonsending) func sleep(for duration: Duration) async throws {}

    /// Does work until the time is up by a clock of such patience.
    /// - Returns: how often it looked, and whether it was stopped.
    static func looks(
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

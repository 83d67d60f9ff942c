import Foundation
import Pipeline
import Synchronization

/// An hour passes when it has been looked at so many times.
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
}

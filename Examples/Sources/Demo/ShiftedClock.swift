import Foundation
import Pipeline
import Synchronization

/// The machine's clock, whose time of day can be moved on: two minutes later needn't take two minutes.
final class ShiftedClock: LoadClock {
    private let shift = Mutex<TimeInterval>(0)
    private let system = SystemClock()

    var now: Date { system.now + shift.withLock { $0 } }
    var uptimeNanoseconds: Int64 { system.uptimeNanoseconds }

    func sleep(for duration: Duration) async throws { try await system.sleep(for: duration) }

    func shift(by seconds: TimeInterval) { shift.withLock { $0 += seconds } }
}

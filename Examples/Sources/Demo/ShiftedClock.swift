import Foundation
import Pipeline
import Synchronization

/// The machine's clock with a time of day that can be advanced, so that two minutes needn't take two minutes.
final class ShiftedClock: LoadClock {
    private let shift = Mutex<TimeInterval>(0)
    private let system = SystemClock()

    var now: Date { system.now + shift.withLock { $0 } }
    var uptimeNanoseconds: Int64 { system.uptimeNanoseconds }

    func sleep(for duration: Duration) async throws { try await system.sleep(for: duration) }

    func shift(by seconds: TimeInterval) { shift.withLock { $0 += seconds } }
}

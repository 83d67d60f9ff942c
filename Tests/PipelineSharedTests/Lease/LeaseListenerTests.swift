import Pipeline
import PipelineTesting
import Testing

@testable import PipelineShared

@Suite("Waiting for the end of a lease")
struct LeaseListenerTests {
    @Test("loses no event that comes when a wait is over and the next has not begun")
    func afterTheLimit() async throws {
        let (listener, clock) = (LeaseListener("channel", number: 1), ManualClock())
        let first = Task { try await listener.next(within: .seconds(1), by: clock) }
        try await clock.sleepers(1, includingLimits: true)
        clock.advance(by: .seconds(1))
        #expect(try await first.value == nil)
        listener.put(.ended(.stored))
        listener.put(.lost)
        #expect(try await listener.next(within: .seconds(1), by: clock) == .ended(.stored))
        #expect(try await listener.next(within: .seconds(1), by: clock) == .lost)
    }

    @Test("ends with an event, whatever the limit")
    func event() async throws {
        let (listener, clock) = (LeaseListener("channel", number: 1), ManualClock())
        let waiting = Task { try await listener.next(within: .seconds(1), by: clock) }
        try await clock.sleepers(1, includingLimits: true)
        listener.put(.ended(.notShared))
        #expect(try await waiting.value == .ended(.notShared))
    }

    @Test("ends at once when the task is cancelled")
    func cancellation() async throws {
        let (listener, clock) = (LeaseListener("channel", number: 1), ManualClock())
        let waiting = Task { try await listener.next(within: .seconds(1), by: clock) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        listener.put(.confirmed)
        #expect(try await listener.next(within: .seconds(1), by: clock) == .confirmed)
    }
}

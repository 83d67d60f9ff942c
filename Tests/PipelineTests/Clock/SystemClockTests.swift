import Essentials
import Pipeline
import Testing

@Suite("The machine's clock")
struct SystemClockTests {
    @Test("Its uptime never goes back")
    func uptime() {
        let clock = SystemClock()
        let readings = (0..<1000).map { _ in clock.uptime }
        #expect(readings == readings.sorted())
    }

    @Test("It sleeps at least as long as asked")
    func sleeps() async throws {
        let clock = SystemClock()
        let start = clock.uptime
        try await clock.sleep(for: .milliseconds(2))
        #expect(clock.uptime - start >= .milliseconds(2))
    }

    @Test("A cancelled task does not sleep, not even for no time")
    func cancelledTask() async {
        for duration in [Duration.zero, .seconds(60)] {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await SystemClock().sleep(for: duration)
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }
}

import Essentials
import Pipeline
import PipelineTesting
import Testing

@Suite("The manual clock", .timeLimit(.minutes(5)))
struct ManualClockTests {
    @Test("Time stands still until it is moved")
    func timeStands() {
        let start = Date(timeIntervalSince1970: 1000)
        let clock = ManualClock(now: start)
        #expect(clock.now == start)
        #expect(clock.uptime == .zero)
        clock.advance(by: .milliseconds(1500))
        #expect(clock.now == start.addingTimeInterval(1.5))
        #expect(clock.uptime == .milliseconds(1500))
    }

    @Test("Setting the time of day leaves the uptime and the sleepers alone")
    func settingTime() async throws {
        let clock = ManualClock()
        let sleep = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.sleepers(1)
        clock.set(now: Date(timeIntervalSince1970: 5_000_000_000))
        #expect(clock.uptime == .zero)
        try await clock.sleepers(1)
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
    }

    @Test("A sleeper wakes once the clock has moved far enough, not before")
    func sleeperWakes() async throws {
        let clock = ManualClock()
        let awake = Lock(Set<Int>())
        let sleeps = [1, 2, 3].map { seconds in
            Task {
                try await clock.sleep(for: .seconds(seconds))
                awake.withLock { _ = $0.insert(seconds) }
            }
        }
        try await clock.sleepers(3)
        clock.advance(by: .milliseconds(1999))
        try await sleeps[0].value
        try await clock.sleepers(2)
        #expect(awake.withLock { $0 } == [1])
        clock.advance(by: .milliseconds(1))
        try await sleeps[1].value
        #expect(awake.withLock { $0 } == [1, 2])
        clock.advance(by: .seconds(1))
        try await sleeps[2].value
    }

    @Test("A zero sleep returns at once")
    func zeroSleep() async throws {
        let clock = ManualClock()
        try await clock.sleep(for: .zero)
        try await clock.sleep(for: .seconds(-1))
    }

    @Test("A cancelled task does not sleep, whether cancelled before or while it does")
    func cancelledTask() async throws {
        let clock = ManualClock()
        let asleep = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.sleepers(1)
        asleep.cancel()
        await #expect(throws: CancellationError.self) { try await asleep.value }

        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await early.value }
    }

    @Test("Waiting for sleepers can be cancelled")
    func waitingSleepers() async throws {
        let clock = ManualClock()
        let watcher = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleepers(1)
        }
        await #expect(throws: CancellationError.self) { try await watcher.value }
    }

    @Test("Cancelling at any moment neither hangs nor wakes twice")
    func cancellingAny() async throws {
        let clock = ManualClock()
        for _ in 0..<1000 {
            let sleep = Task { try await clock.sleep(for: .seconds(1)) }
            let canceller = Task { sleep.cancel() }
            clock.advance(by: .seconds(1))
            await canceller.value
            _ = await sleep.result
        }
    }
}

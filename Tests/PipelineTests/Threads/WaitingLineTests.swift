import Pipeline
import Testing

@Suite("A line of tasks", .timeLimit(.minutes(5)))
struct WaitingLineTests {
    private struct Units: SharedResource {
        var free: Int

        mutating func take(_ need: Int, _: LoadPriority) -> Int? {
            guard need <= free else { return nil }
            free -= need
            return need
        }
    }

    private let line = WaitingLine(Units(free: 10))

    private func reaches(_ count: Int) async { while line.count != count { await Task.yield() } }

    /// Takes a share in a task whose priority can be moved.
    private func start(_ need: Int, _ priority: AdjustablePriority) async -> Task<Int, any Error> {
        let count = line.count
        let task = Task { [line] in
            try await AdjustablePriority.$inherited.withValue(priority) {
                try await line.take(need, priority: .veryLow)
            }
        }
        await reaches(count + 1)
        return task
    }

    @Test(
        "A task that is cancelled before it is enqueued takes nothing, whether there is room or not",
        arguments: [1, 11])
    func cancelledBefore(need: Int) async throws {
        let task = Task { [line] in
            while !Task.isCancelled { await Task.yield() }
            return try await line.take(need, priority: .normal)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(line.count == 0)
        #expect(line.read { $0.free } == 10)
    }

    @Test("A task that is cancelled while it waits leaves at once, and the tasks behind it go on")
    func cancelledWaiting() async throws {
        let first = await start(11, AdjustablePriority(.normal))
        let second = await start(3, AdjustablePriority(.normal))
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await second.value == 3)
        #expect(line.read { $0.free } == 7)
    }

    @Test("Tasks cancelled at any moment either have their share or throw")
    func cancelledAnytime() async throws {
        let line = line
        for _ in 0..<2000 {
            let task = Task { try await line.take(6, priority: .normal) }
            let other = Task { try await line.take(6, priority: .high) }
            task.cancel()
            if let taken = try? await task.value { line.update { $0.free += taken } }
            let taken = try await other.value
            line.update { $0.free += taken }
        }
        #expect(line.count == 0)
        #expect(line.read { $0.free } == 10)
    }

    @Test("A task follows the priority of its work")
    func moved() async throws {
        _ = try await line.take(10, priority: .normal)
        let urgency = [LoadPriority.normal, .low, .high].map { AdjustablePriority($0) }
        var tasks: [Task<Int, any Error>] = []
        for priority in urgency { tasks.append(await start(10, priority)) }
        urgency[2].set(.veryLow)
        urgency[1].set(.high)
        for index in [1, 0, 2] {
            line.update { $0.free += 10 }
            #expect(try await tasks[index].value == 10)
        }
    }

    @Test("No task overtakes one that is as urgent, though its share would be available")
    func overtaking() async throws {
        let large = await start(11, AdjustablePriority(.normal))
        #expect(line.takeNow(1, priority: .normal) == nil)
        #expect(line.takeNow(1, priority: .high) == 1)
        line.update { $0.free = 11 }
        #expect(try await large.value == 11)
    }

    @Test("A waiter that is resumed before it is suspended, and twice, has the first result")
    func resumedEarly() async throws {
        let waiter = Waiter<Int>()
        let value = try await waiter.wait(priority: .normal) { _ in
            waiter.resume(with: .success(1))
            waiter.resume(with: .failure(CancellationError()))
        } move: { _ in
        } leave: {
        }
        #expect(value == 1)
    }
}

import Pipeline
import PipelineTesting

/// Runs everything on one thread, one piece at a time; which comes next a seeded generator decides. So one seed is one
/// order of events, which can be repeated, and many seeds are many orders.
final class SeededExecutor: TaskExecutor, SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var generator: SeededGenerator
    }

    private let state: Lock<State>

    init(seed: UInt64) { state = Lock(State(generator: SeededGenerator(seed: seed))) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    /// Runs at most this many pieces; returns when nothing is left to run.
    func run(atMost count: Int = .max) {
        var left = count
        while left > 0, let job = next() {
            job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            left -= 1
        }
    }

    /// How many pieces could run now.
    var waiting: Int { state.withLock { $0.jobs.count } }

    private func next() -> UnownedJob? {
        state.withLock { state in
            guard !state.jobs.isEmpty else { return nil }
            let index = Int.random(in: 0..<state.jobs.count, using: &state.generator)
            state.jobs.swapAt(index, state.jobs.count - 1)
            return state.jobs.removeLast()
        }
    }
}

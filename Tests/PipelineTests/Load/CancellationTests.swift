import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("Cancellation")
struct CancellationTests {
    @Test("CancellationError passes untouched, out of composites too")
    func cancellationErrorPasses() async throws {
        let pipeline = ImagePipeline {
            Wrap { StubStage.failing("Cancelled", CancellationError()) }
        }
        await #expect(throws: CancellationError.self) { try await pipeline.load(.at()) }
    }

    @Test("A stage that waits ends when the task is cancelled")
    func stageWaits() async throws {
        let clock = ManualClock()
        let pipeline = ImagePipeline(clock: clock) {
            StubStage("Delay", accepts: .empty, produces: .empty) { load in
                try await load.clock.sleep(for: .seconds(60))
                return .done
            }
            StubStage.giving("Answer", .ready())
        }
        let request = try ImageRequest.at()
        let task = Task { try await pipeline.load(request) }
        try await clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("No further stage is called once the task is cancelled")
    func furtherStage() async throws {
        let later = RecordingStage("Later", accepts: .decoded)
        let pipeline = ImagePipeline {
            StubStage("Inattentive", accepts: .empty) { load in
                withUnsafeCurrentTask { $0?.cancel() }
                load.advance(to: .decoded(), from: .network)
                return .done
            }
            later
        }
        let request = try ImageRequest.at()
        await #expect(throws: CancellationError.self) { try await Task { try await pipeline.load(request) }.value }
        #expect(later.loads.isEmpty)
    }
}

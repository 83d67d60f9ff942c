import Foundation
import Pipeline
import PipelineTesting
import Testing

@testable import StageOfYourOwn

@Suite("A transform and a composite of one's own")
struct OwnStagesTests {
    private func request() throws -> ImageRequest {
        ImageRequest(try #require(URL(string: "https://example.com/cat.jpg")))
    }

    @Test("inverting leaves alpha alone")
    func inverting() async throws {
        let pipeline = ImagePipeline {
            StubStage("Picture", accepts: .empty, produces: .decoded) { load in
                load.advance(to: .decoded(.filled(2, with: [0, 100, 255, 40])), from: .network)
                return .done
            }
            Invert()
        }
        let response = try await pipeline.load(try request())
        #expect(response.image?.frames.first?.bytes.prefix(4) == [255, 155, 0, 40])
    }

    @Test("trying twice gives what the second attempt gave")
    func tryingTwice() async throws {
        let attempts = RecordingStage(accepts: .empty)
        let pipeline = ImagePipeline {
            TryTwice {
                attempts
                StubStage("Fetch", accepts: .empty, produces: .original) { load in
                    guard attempts.loads.count == 2 else {
                        throw LoadError(.unreachable, subject: load.subject, "No route.")
                    }
                    load.advance(to: .original(EncodedImage(bytes: [1])), from: .network)
                    return .done
                }
            }
        }
        let response = try await pipeline.load(try request())
        #expect(response.encoded?.bytes == [1])
        #expect(attempts.loads.count == 2)
    }

    @Test("another failure is not tried again")
    func otherFailures() async throws {
        let attempts = RecordingStage(accepts: .empty)
        let pipeline = ImagePipeline {
            TryTwice {
                attempts
                StubStage("Fetch") { load in throw LoadError(.refused, subject: load.subject, "Not allowed.") }
            }
        }
        await #expect(throws: LoadError.self) { try await pipeline.load(try request()) }
        #expect(attempts.loads.count == 1)
    }

    @Test("a stage that waits is tested without waiting")
    func waiting() async throws {
        let clock = ManualClock()
        let request = try request()
        let pipeline = ImagePipeline(clock: clock) {
            StubStage("Patience", accepts: .empty, produces: .empty) { load in
                try await load.clock.sleep(for: .seconds(60))
                return .done
            }
        }
        let task = Task { try await pipeline.load(request) }
        try await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        let error = await #expect(throws: LoadError.self) { try await task.value }
        #expect(error?.code == .notCached)
        #expect(error?.trace.entries.map(\.duration) == [.seconds(60)])
    }
}

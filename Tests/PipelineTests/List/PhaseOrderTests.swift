import Pipeline
import PipelineTesting
import Testing

@Suite("A load only moves forward")
struct PhaseOrderTests {
    @Test(
        "A stage that moves a load back fails by its name",
        arguments: [
            (LoadContent.decoded(), LoadContent.original()), (.encoded(1), .decoded()), (.decoded(), .empty),
        ])
    func movingBack(first: LoadContent, second: LoadContent) async throws {
        let pipeline = ImagePipeline {
            StubStage.giving("Forward", first)
            StubStage("Backward", accepts: Phases(first.phase)) { load in
                load.advance(to: second)
                return .done
            }
        }
        let error = try await #require(throws: LoadError.self) { try await pipeline.load(.at()) }
        #expect(error.code == .stageContract)
        #expect(error.stage == "Backward")
        #expect(error.message.contains("from \(first.phase) to \(second.phase)"))
        #expect(error.trace.summary == "Forward done, Backward failed")
    }

    @Test("A stage that changes a ready load fails by its name")
    func stageChanges() async throws {
        let pipeline = ImagePipeline {
            StubStage.giving("Answer", .ready(2))
            StubStage.giving("Late", accepts: .ready, .ready(3))
        }
        let error = try await #require(throws: LoadError.self) { try await pipeline.load(.at()) }
        #expect(error.code == .stageContract)
        #expect(error.stage == "Late")
    }

    @Test("A stage that gives content without a source fails by its name")
    func stageGives() async throws {
        let pipeline = ImagePipeline { StubStage.giving("Nowhere", .original(), from: nil) }
        let error = try await #require(throws: LoadError.self) { try await pipeline.load(.at()) }
        #expect(error.code == .stageContract)
        #expect(error.stage == "Nowhere")
    }

    @Test("What a stage tried against the rule does not change the load")
    func stageTried() async throws {
        let seen = RecordingStage(accepts: .decoded)
        let pipeline = ImagePipeline {
            StubStage.giving("Paint", .decoded(2))
            StubStage("Careless", accepts: .decoded, produces: .decoded) { load in
                load.advance(to: .original())
                #expect(load.phase == .decoded)
                return .done
            }
            seen
        }
        await #expect(throws: LoadError.self) { try await pipeline.load(.at()) }
        #expect(seen.loads.isEmpty)
    }

    @Test("Pixels may be replaced by pixels and bytes by bytes")
    func pixelsMay() async throws {
        let pipeline = ImagePipeline {
            StubStage.giving("Fetch", .original(3))
            StubStage.giving("Rewrite", accepts: .original, .original(4), from: nil)
            StubStage.giving("Paint", accepts: .original, .decoded(8), from: nil)
            StubStage.giving("Shrink", accepts: .decoded, .decoded(4), from: nil)
            StubStage.giving("Encode", accepts: .decoded, .encoded(10), from: nil)
            StubStage.giving("Squeeze", accepts: .encoded, .encoded(5), from: nil)
        }
        let response = try await pipeline.load(.at())
        #expect(response.encoded?.bytes.count == 5)
        #expect(response.source == .network)
        #expect(response.trace.entries.map(\.bytes) == [3, 4, 64, 16, 10, 5])
    }

    @Test("The source that was named last holds")
    func sourceNamed() async throws {
        let pipeline = ImagePipeline {
            StubStage.giving("Disk", .original(), from: .disk)
            StubStage.giving("Confirm", accepts: .original, .original(), from: .revalidated)
            StubStage.giving("Paint", accepts: .original, .decoded(), from: nil)
        }
        #expect(try await pipeline.load(.at()).source == .revalidated)
    }
}

import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("Which stages are called")
struct CallingTests {
    @Test("Stages are called in the order of the list")
    func stagesCalled() async throws {
        let pipeline = ImagePipeline {
            StubStage.missing("First")
            StubStage.missing("Second")
            StubStage.giving("Third", .ready())
        }
        #expect(try await pipeline.load(.at()).trace.entries.map(\.stage) == ["First", "Second", "Third"])
    }

    @Test("A stage is called only in the phases that it accepts")
    func stageCalled() async throws {
        let before = RecordingStage("Before", accepts: [.empty, .decoded])
        let after = RecordingStage("After", accepts: [.empty, .decoded])
        let bytesOnly = RecordingStage("BytesOnly", accepts: .original)
        let pipeline = ImagePipeline {
            before
            StubStage("Either", accepts: .empty) { load in
                load.advance(to: .decoded(), from: .network)
                return .done
            }
            bytesOnly
            after
        }
        _ = try await pipeline.load(.at())
        #expect(before.phases == [.empty])
        #expect(bytesOnly.phases.isEmpty)
        #expect(after.phases == [.decoded])
    }

    @Test("A hit in memory calls two stages and no more")
    func hitMemory() async throws {
        let pipeline = ImagePipeline {
            StubStage.idle("ResolveIdentifier", accepts: .empty)
            StubStage("MemoryLookup", accepts: .empty, produces: [.empty, .ready]) { load in
                load.advance(to: .ready(), from: .memory)
                return .hit
            }
            StubStage.missing("Lookup")
            StubStage.giving("Fetch", .original())
            StubStage.giving("Decode", accepts: .original, .decoded(), from: nil)
        }
        let response = try await pipeline.load(.at())
        #expect(response.trace.summary == "ResolveIdentifier done, MemoryLookup hit")
        #expect(response.source == .memory)
    }

    @Test("A hit on disk never reaches the fetch")
    func hitDisk() async throws {
        let fetch = RecordingStage("Fetch", accepts: .empty)
        let pipeline = ImagePipeline {
            StubStage("Lookup", accepts: .empty, produces: [.empty, .original]) { load in
                load.advance(to: .original(), from: .disk)
                return .hit
            }
            fetch
            StubStage.giving("Decode", accepts: .original, .decoded(), from: nil)
        }
        let response = try await pipeline.load(.at())
        #expect(response.trace.summary == "Lookup hit, Decode done")
        #expect(fetch.loads.isEmpty)
    }

    @Test("An observer after the response still sees it")
    func observerAfter() async throws {
        let observer = RecordingStage(accepts: .ready)
        let pipeline = ImagePipeline {
            StubStage.giving("Answer", .ready())
            StubStage.missing("Unneeded", accepts: [.empty, .ready])
            observer
        }
        _ = try await pipeline.load(.at())
        #expect(observer.phases == [.ready])
    }

    @Test("A composite is called in the phases that its body accepts")
    func compositeCalled() async throws {
        let pipeline = ImagePipeline {
            StubStage("Find", accepts: .empty) { load in
                load.advance(to: .decoded(), from: .network)
                return .done
            }
            Wrap { StubStage.giving("Paint", accepts: .original, .decoded()) }
            Wrap { Blur() }
        }
        let response = try await pipeline.load(.at())
        #expect(response.trace.entries.map(\.stage) == ["Find", "Wrap", "Blur"])
    }

    @Test("A transform replaces the pixels")
    func transformReplaces() async throws {
        struct Halve: Transform {
            let signature: String? = "halve"
            func apply(_ image: DecodedImage) async throws -> DecodedImage {
                .filled(PixelSize(width: image.size.width / 2, height: image.size.height / 2), with: [1])
            }
        }
        let pipeline = ImagePipeline {
            StubStage.giving("Find", .decoded(8))
            Halve()
            Halve()
        }
        let response = try await pipeline.load(.at())
        #expect(response.size == 2)
        #expect(response.trace.entries.map(\.bytes) == [64, 16, 4])
    }

    @Test("What a stage reports never steers the load")
    func stageReports() async throws {
        for outcome in [Outcome.hit, .miss, .done, .skipped, .failed] {
            let pipeline = ImagePipeline {
                StubStage("Says", accepts: .empty, produces: .empty) { _ in outcome }
                StubStage.giving("Answer", .ready())
            }
            let trace = try await pipeline.load(.at()).trace
            #expect(trace.entries.map(\.outcome) == [outcome, .done])
        }
    }

    @Test("A stage that stands in two places is called in both")
    func stageStands() async throws {
        let seen = RecordingStage(accepts: .empty)
        let pipeline = ImagePipeline {
            seen
            Wrap { seen }
            StubStage.giving("Answer", .ready())
        }
        _ = try await pipeline.load(.at())
        #expect(seen.loads.count == 2)
    }
}

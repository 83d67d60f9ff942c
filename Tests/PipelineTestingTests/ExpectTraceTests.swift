import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("Traces that are expected")
struct ExpectTraceTests {
    private func trace() async throws -> Trace {
        try await ImagePipeline {
            RecordingStage("First")
            Wrap {
                StubStage("Second") { load in
                    load.advance(to: .ready(.image(.filled(1))), from: .network)
                    return .hit
                }
            }
        }.load(ImageRequest(.bytes([]))).trace
    }

    @Test("The trace that happened passes")
    func same() async throws {
        try expectTrace(
            await trace(),
            """
            First done
            Wrap done
                Second hit
            """)
    }

    @Test("Parts of what happened pass in their order, whatever lies between them")
    func parts() async throws {
        let trace = try await trace()
        for parts in ["", "Second hit", "First done\nSecond hit", "First done\nWrap done\nSecond hit"] {
            try expectTrace(trace, contains: parts)
        }
        for parts in ["Second hit\nFirst done", "First miss", "First done\nFirst done"] {
            let error = #expect(throws: TraceMismatch.self) { try expectTrace(trace, contains: parts) }
            #expect(
                error?.description == "Expected:\n\(parts)\nHappened:\nFirst done\nWrap done\nSecond hit")
        }
    }

    @Test("Another one is told along with what happened")
    func other() async throws {
        let trace = try await trace()
        let error = #expect(throws: TraceMismatch.self) { try expectTrace(trace, "First done\nSecond hit") }
        #expect(
            error?.description == "Expected:\nFirst done\nSecond hit\nHappened:\nFirst done\nWrap done\n    Second hit")
    }
}

import Foundation
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("Errors say what, whose, where and what to do")
struct ErrorTests {
    private struct Broken: Error, CustomStringConvertible { let description: String }

    @Test("A foreign error becomes stageFailed with stage, subject and what is underneath")
    func foreignError() async throws {
        let pipeline = ImagePipeline {
            StubStage.missing("Look")
            StubStage.failing("Fetch", Broken(description: "the wire was cut"))
        }
        let error = try await #require(throws: LoadError.self) {
            try await pipeline.load(.at("https://me:secret@example.com/cat.jpg?token=abc"))
        }
        #expect(error.code == .stageFailed)
        #expect(error.stage == "Fetch")
        #expect(error.subject == "https://…@example.com/cat.jpg?token=…")
        #expect(error.message == "the wire was cut")
        #expect(error.underlying is Broken)
        #expect(error.trace.summary == "Look miss, Fetch failed")
        #expect(error.description == "Fetch: https://…@example.com/cat.jpg?token=…: the wire was cut")
    }

    @Test("A foreign error that quotes the URL gives no credential away")
    func foreignErrorQuotes() async throws {
        let url = "https://me:secret@example.com/cat.jpg?token=abc"
        let pipeline = ImagePipeline { StubStage.failing("Fetch", Broken(description: "no route to <\(url)>")) }
        let error = try await #require(throws: LoadError.self) { try await pipeline.load(.at(url)) }
        #expect(error.message == "no route to <https://…@example.com/cat.jpg?token=…>")
    }

    @Test("A LoadError keeps what it says and is told its stage and trace")
    func loadErrorKeeps() async throws {
        let thrown = LoadError(.refused, subject: "the cat", "Ask somebody else.", httpStatus: 403)
        let pipeline = ImagePipeline {
            StubStage.missing("Look")
            StubStage.failing("Refuse", thrown)
        }
        let error = try await #require(throws: LoadError.self) { try await pipeline.load(.at()) }
        #expect(error.code == .refused)
        #expect(error.subject == "the cat")
        #expect(error.httpStatus == 403)
        #expect(error.stage == "Refuse")
        #expect(error.trace.summary == "Look miss, Refuse failed")
        #expect(error.description == "Refuse: the cat: Ask somebody else.")
    }

    @Test("The innermost stage is the one that failed")
    func innermostStage() async throws {
        let pipeline = ImagePipeline { Wrap { Wrap { StubStage.failing("Inner", Broken(description: "…")) } } }
        let error = try await #require(throws: LoadError.self) { try await pipeline.load(.at()) }
        #expect(error.stage == "Inner")
        #expect(error.trace.entries.map(\.outcome) == [.failed, .failed, .failed])
        #expect(error.trace.entries.map(\.depth) == [0, 1, 2])
    }

    @Test("A load that no stage answers fails with notCached, which is not a stage that failed")
    func loadStage() async throws {
        let pipeline = ImagePipeline {
            StubStage.idle("ResolveIdentifier", accepts: .empty)
            StubStage.missing("MemoryLookup")
            StubStage.missing("Lookup")
        }
        let error = try await #require(throws: LoadError.self) { try await pipeline.load(.at()) }
        #expect(error.code == .notCached)
        #expect(error.stage == nil)
        #expect(error.httpStatus == nil)
        #expect(
            error.description
                == "https://example.com/cat.jpg: No image: ResolveIdentifier done, MemoryLookup miss, Lookup miss. "
                + "This pipeline has no stage that fetches it; use returnCacheElseLoad to allow downloads.")
    }

    @Test("An empty list answers that nothing ran")
    func emptyList() async throws {
        let error = try await #require(throws: LoadError.self) { try await ImagePipeline {}.load(.at()) }
        #expect(error.code == .notCached)
        #expect(error.message.hasPrefix("No image: the pipeline is an empty list."))
    }

    @Test("Foundation's description of an error is the error's own")
    func foundationDescription() {
        let error: any Error = LoadError(.refused, subject: "http://a.example/", "The host is on the block list.")
        #expect(error.localizedDescription == "http://a.example/: The host is on the block list.")
    }
}

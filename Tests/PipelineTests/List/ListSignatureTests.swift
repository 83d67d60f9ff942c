import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("The signature of a list")
struct ListSignatureTests {
    private func list(_ transforms: Blur...) -> ImagePipeline {
        ImagePipeline {
            StubStage.giving("Find", .decoded())
            for transform in transforms { transform }
        }
    }

    @Test("Equal lists have equal signatures, different transforms different ones")
    func equalLists() {
        let lists = [
            list(), list(Blur()), list(Blur(radius: 2)), list(Blur(), Blur(radius: 2)), list(Blur(radius: 2), Blur()),
        ]
        #expect(Set(lists.map(\.signature)).count == lists.count)
        #expect(list(Blur(radius: 2)).signature == list(Blur(radius: 2)).signature)
    }

    @Test("Stages that do nothing to the pixels leave it as it is")
    func stagesDo() {
        #expect(list(Blur()).inserting(Look(), before: StubStage.self).signature == list(Blur()).signature)
    }

    @Test("What stands in a body counts")
    func standsBody() {
        let wrapped = ImagePipeline {
            StubStage.giving("Find", .decoded())
            Wrap { Blur(radius: 2) }
        }
        #expect(wrapped.signature == list(Blur(radius: 2)).signature)
        #expect(wrapped.signature != list(Blur()).signature)
    }

    @Test("A load knows its list's signature, a fork too")
    func loadKnows() async throws {
        let seen = RecordingStage(accepts: .decoded)
        let pipeline = ImagePipeline {
            StubStage.giving("Find", .decoded())
            Parallel {
                Blur(radius: 3)
                seen
            }
        }
        _ = try await pipeline.load(.at())
        #expect(seen.loads.map(\.list) == [pipeline.signature])
    }
}

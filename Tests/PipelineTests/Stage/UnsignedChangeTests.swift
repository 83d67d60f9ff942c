import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("A stage that changes the image has a signature")
struct UnsignedChangeTests {
    private func load(_ stage: any Stage, before: any Stage) async throws {
        _ = try await ImagePipeline {
            Find()
            before
            Wrap { stage }
        }.load(.at())
    }

    @Test("Pixels and bytes that are replaced without one break the contract of stages")
    func pixelsBytes() async throws {
        let pixels = StubStage.giving("Invert", accepts: .decoded, .decoded(), from: nil, isSigned: false)
        let bytes = StubStage.giving("Shrink", accepts: .encoded, .encoded(1), from: nil, isSigned: false)
        let encode = StubStage.giving("Encode", accepts: .original, .encoded(1), from: nil)
        for (stage, before) in [(pixels, Paint() as any Stage), (bytes, encode)] {
            let error = try await #require(throws: LoadError.self) { try await load(stage, before: before) }
            #expect(error.code == .stageContract)
            #expect(error.stage == stage.name)
            #expect(error.message.contains("signature"))
        }
    }

    @Test("With one, or where a stage leaves the image alone, all is well")
    func oneWhere() async throws {
        try await load(Blur(), before: Paint())
        try await load(StubStage.idle("Look", accepts: .decoded), before: Paint())
    }

    /// A transform that says nothing of what it does.
    private struct Unsigned: Transform {
        var signature: String? { nil }

        func apply(_ image: DecodedImage) -> DecodedImage { image }
    }

    @Test("A list with a transform without one is refused when it is built")
    func listTransform() throws {
        let error = try #require(throws: LoadError.self) {
            try ImagePipeline(validating: Chain([Find(), Paint(), Wrap { Unsigned() }]))
        }
        #expect(error.code == .stageContract)
        #expect(error.message.hasPrefix("Unsigned replaces pixels and has no signature"))
    }
}

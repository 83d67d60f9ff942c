#if !LINUX
import Pipeline
import PipelineIsolation
import Testing

@Suite("A pool of decoding processes where there is no confinement")
struct ElsewhereTests {
    @Test("It refuses to start, even with less confinement, and says what it needs")
    func refuses() async throws {
        for policy in ConfinementPolicy.allCases {
            let error = await #expect(throws: LoadError.self) { try await DecoderPool(confinement: policy) }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("on Linux with glibc only") == true)
        }
    }
}
#endif

import Pipeline
import Testing

@Suite("Sets of phases")
struct PhasesTests {
    @Test func `The order of the phases is the way a load goes`() {
        #expect(Phase.allCases == [.empty, .original, .decoded, .encoded, .ready])
        #expect(Phase.allCases == Phase.allCases.sorted())
    }

    @Test("A set holds what it was made of", arguments: Phase.allCases)
    func membership(phase: Phase) {
        #expect(Phases(phase).contains(phase))
        #expect(Phases.all.contains(phase))
        #expect(!Phases([]).contains(phase))
        #expect(!Phases.all.subtracting(Phases(phase)).contains(phase))
    }

    @Test func `It prints the phases in their order`() {
        let phases: Phases = [.ready, .empty, .decoded]
        #expect(phases.description == "empty, decoded, ready")
    }

    @Test func `And later means the first phase and all that follow it`() {
        #expect(Phases([]).andLater == [])
        #expect(Phases.empty.andLater == .all)
        #expect(Phases([.original, .encoded]).andLater == [.original, .decoded, .encoded, .ready])
        #expect(Phases.ready.andLater == .ready)
    }
}

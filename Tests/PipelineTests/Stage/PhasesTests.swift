import Pipeline
import Testing

@Suite("Sets of phases")
struct PhasesTests {
    @Test("The order of the phases is the way a load goes")
    func orderPhases() {
        #expect(Phase.allCases == [.empty, .redirected, .original, .decoded, .encoded, .ready])
        #expect(Phase.allCases == Phase.allCases.sorted())
    }

    @Test("A set holds what it was made of", arguments: Phase.allCases)
    func membership(phase: Phase) {
        #expect(Phases(phase).contains(phase))
        #expect(Phases.all.contains(phase))
        #expect(!Phases([]).contains(phase))
        #expect(!Phases.all.subtracting(Phases(phase)).contains(phase))
    }

    @Test("It prints the phases in their order")
    func printsPhases() {
        let phases: Phases = [.ready, .empty, .decoded]
        #expect(phases.description == "empty, decoded, ready")
    }

    @Test("And later means the first phase and all that follow it")
    func laterMeans() {
        #expect(Phases([]).andLater == [])
        #expect(Phases.empty.andLater == .all)
        #expect(Phases([.original, .encoded]).andLater == [.original, .decoded, .encoded, .ready])
        #expect(Phases.ready.andLater == .ready)
    }
}

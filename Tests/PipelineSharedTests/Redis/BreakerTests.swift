import Testing

@testable import PipelineShared

@Suite("The breaker of a connection")
struct BreakerTests {
    /// What a breaker says to failures at these moments.
    private func fail(_ breaker: inout Breaker, at moments: Int64..., isFinal: Bool = false) -> [Bool] {
        moments.map { breaker.fail(at: $0, isFinal: isFinal) }
    }

    @Test("opens after three failures in a row, and a reply between them counts")
    func opening() {
        var breaker = Breaker()
        let before = fail(&breaker, at: 0, 1)
        let hasClosed = breaker.succeed()
        let after = fail(&breaker, at: 2, 3)
        #expect(before == [false, false] && !hasClosed && after == [false, false])
        #expect(!breaker.isOpen)
        let last = fail(&breaker, at: 4)
        #expect(last == [true] && breaker.isOpen)
    }

    @Test("opens at once if no connection is left")
    func openingAtOnce() {
        var breaker = Breaker()
        let opened = fail(&breaker, at: 0, isFinal: true)
        #expect(opened == [true] && breaker.isOpen)
    }

    @Test("has its first pause however many requests fail together")
    func burst() {
        var breaker = Breaker()
        _ = fail(&breaker, at: 7, 7, 7, 7, 7, 7, 8, 8)
        #expect(breaker.probesAt == 7 + Breaker.firstPause)
    }

    @Test("lets a probe through after its pause, which doubles with each failed probe up to a limit")
    func probing() throws {
        var breaker = Breaker()
        _ = fail(&breaker, at: 0, isFinal: true)
        #expect(!breaker.isHalfOpen(at: Breaker.firstPause - 1))
        #expect(breaker.isHalfOpen(at: Breaker.firstPause))
        var (now, pauses): (Int64, [Int64]) = (Breaker.firstPause, [])
        for _ in 0..<8 {
            let opened = fail(&breaker, at: now, isFinal: true)
            #expect(opened == [false])
            let next = try #require(breaker.probesAt)
            pauses.append((next - now) / 1_000_000)
            now = next
        }
        #expect(pauses == [1000, 2000, 2000, 2000, 2000, 2000, 2000, 2000])
        let hasClosed = breaker.succeed()
        #expect(hasClosed && !breaker.isOpen)
        #expect(breaker == Breaker())
    }
}

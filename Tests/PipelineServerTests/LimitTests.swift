import Metrics
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineServer

@Suite("What one client or one origin can take is bounded")
struct LimitTests {
    @Test("Client Hints have at most twelve steps, also with Save-Data")
    func hints() {
        func steps(_ make: (Double, Int, Bool) -> ClientHints) -> Set<ClientHints> {
            var all = Set<ClientHints>()
            for saves in [false, true] {
                for ratio in stride(from: 0.5, to: 9, by: 0.01) {
                    for width in stride(from: 1, to: 8192, by: 97) { all.insert(make(ratio, width, saves)) }
                }
            }
            return all
        }
        #expect(steps { ratio, _, saves in ClientHints(pixelRatio: ratio, savesData: saves) }.count <= 12)
        #expect(steps { _, width, saves in ClientHints(width: width, savesData: saves) }.count <= 12)
        #expect(ClientHints(pixelRatio: 1.2, width: 641).pixelRatio == 1.5)
        #expect(ClientHints(pixelRatio: 1.2, width: 641).width == 960)
    }

    @Test("An origin takes its share of the queue")
    func origins() {
        let queue = WorkQueue(
            limit: 8, originLimit: 2, metrics: NOOPMetricsHandler.instance, memory: FreedMemory(clock: ManualClock()) {}
        )
        #expect(queue.enter("a") && queue.enter("a") && !queue.enter("a"))
        #expect(queue.enter("b") && queue.enter(nil) && queue.count == 4)
        queue.leave("a")
        #expect(queue.enter("a"))
    }

    @Test("Memory is returned once there has been no work for some seconds, and once a minute while there is any")
    func freedMemory() async throws {
        let clock = ManualClock()
        let (events, event) = AsyncStream<String>.makeStream()
        let memory = FreedMemory(clock: clock) { event.yield("returned") }
        var next = events.makeAsyncIterator()
        // Twelve pauses of busy time are a minute since memory was returned.
        for isIdle in [true] + Array(repeating: false, count: 12) {
            // Work that ends while the pause lasts begins no other.
            for _ in 0..<3 {
                memory.workEnded {
                    event.yield("asked")
                    return isIdle
                }
            }
            try await clock.sleepers(1)
            #expect(clock.sleeperCount == 1)
            clock.advance(by: FreedMemory.pause)
            #expect(await next.next() == "asked")
            if isIdle { #expect(await next.next() == "returned") }
        }
        #expect(await next.next() == "returned")
    }

    @Test("The end of any work is told")
    func anyWork() async throws {
        let clock = ManualClock()
        let queue = WorkQueue(
            limit: 8, originLimit: 8, metrics: NOOPMetricsHandler.instance, memory: FreedMemory(clock: clock) {})
        #expect(queue.enter(nil) && queue.enter("a"))
        queue.leave("a")
        try await clock.sleepers(1)
        queue.leave(nil)
        #expect(clock.sleeperCount == 1)
    }
}

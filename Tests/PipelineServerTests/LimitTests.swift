import Metrics
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
        let queue = WorkQueue(limit: 8, originLimit: 2, metrics: NOOPMetricsHandler.instance)
        #expect(queue.enter("a") && queue.enter("a") && !queue.enter("a"))
        #expect(queue.enter("b") && queue.enter(nil) && queue.count == 4)
        queue.leave("a")
        #expect(queue.enter("a"))
    }
}

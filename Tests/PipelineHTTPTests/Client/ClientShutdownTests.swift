import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import TestFixtures
import Testing

@Suite("The shutdown of a client that wraps another")
struct ClientShutdownTests {
    private final class Inner: TransferClient {
        let shutdowns = Counter()

        func send(_ request: TransferRequest) async throws -> TransferResponse {
            TransferResponse(status: 200, headers: [:], url: request.url, body: TransferBody([]))
        }

        var urlRule: (@Sendable (URL) -> Bool)? { nil }

        func shutdown() async { shutdowns.increment() }
    }

    @Test("reaches the wrapped one, through any number of wrappers")
    func reachesInner() async {
        let inner = Inner()
        await Rewritten(inner) { $0 }.shutdown()
        #expect(inner.shutdowns.value == 1)
        await RateLimited(inner, requestsPerSecond: 1).shutdown()
        #expect(inner.shutdowns.value == 2)
        await Rewritten(RateLimited(Rewritten(inner) { $0 }, requestsPerSecond: 1)) { $0 }.shutdown()
        #expect(inner.shutdowns.value == 3)
    }
}

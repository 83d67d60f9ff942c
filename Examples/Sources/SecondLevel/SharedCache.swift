import Pipeline
import PipelineHTTP

/// Adds a cache between the disk and the network, such as one that several machines share. It is asked before the body
/// fetches, and stores the fetched response.
///
/// A hit keeps the times and fields of the origin's response, so every tier expires it at the same moment.
struct SharedCache: CompositeStage {
    var body: Chain
    private let cache: HTTPCache

    init(_ cache: HTTPCache, @ChainBuilder _ body: () -> Chain) {
        self.cache = cache
        self.body = body()
    }

    var needsIdentity: Bool { true }

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .url(let url) = load.request.source, let key = load.sourceKey else { return .skipped }
        let (headers, expiry) = (load.request.headers, load.request.expiry)
        if case .fresh(let found, _) = try await cache.lookup(key, headers: headers, expiry: expiry),
            found.status == 200
        {
            load.deliver(
                HTTPExchange(
                    url: url, requestHeaders: headers, status: found.status, headers: found.headers,
                    requestTime: found.requestTime, responseTime: found.responseTime, body: found.body), from: .disk)
            return .hit
        }
        try await body.run(&load)
        if case .fetched(let exchange) = load.response { _ = await cache.commit(exchange, for: key, expiry: expiry) }
        return .done
    }
}

import HTTPTypes
public import Pipeline

/// Asks the origin for the source's bytes. What a stale entry can be validated by is sent along; a 304 makes its bytes
/// the answer without sending them again (RFC 9110 section 13).
///
/// The response is not stored yet: that is ``Store``'s, at the end of the list, so that bytes that don't decode are
/// never kept.
public struct Fetch: Stage {
    private let responses: HTTPCache
    private let client: any HTTPClient
    private let byteLimit: Int

    /// Asks through `client` for at most `byteLimit` bytes, 64 MB by default.
    public init(_ responses: HTTPCache, _ client: any HTTPClient, byteLimit: Int = 64_000_000) {
        self.responses = responses
        self.client = client
        self.byteLimit = byteLimit
    }

    /// Nothing found yet.
    public var accepts: Phases { .empty }

    /// The source's bytes; still nothing for a source that is not remote.
    public var produces: Phases { [.empty, .original] }

    /// Fetches the bytes.
    /// - Throws: `LoadError` with `httpStatus` for any status but 2xx, `unreachable`, `timedOut`, `tooManyBytes` and
    ///   what else the client throws; `CancellationError` if the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .url(let url) = load.request.source else { return .skipped }
        try ImageSource.check(url)
        // RFC 9111 section 5.2.1.7.
        if !load.request.headers.isEmpty, CacheControl(load.request.headers).contains("only-if-cached") {
            load.note("the request says only-if-cached")
            return .skipped
        }
        load.report(.sendingRequest(hadCachedImage: load.stale != nil))
        do {
            let source = try await fetch(TransferRequest(url: url, priority: load.priority), &load)
            load.report(.requestCompleted(source: source, error: nil))
            return .done
        } catch let error as LoadError {
            load.report(.requestCompleted(source: nil, error: error))
            throw error
        } catch let error where !(error is CancellationError) {
            let failure = LoadError(
                .stageFailed, subject: load.subject,
                "The HTTP client failed with an error of its own; see the underlying error.", underlying: error)
            load.report(.requestCompleted(source: nil, error: failure))
            throw failure
        }
    }

    private func fetch(_ request: TransferRequest, _ load: inout Load) async throws -> LoadSource {
        let stale = load.attachment(StaleEntry.self)?.response
        let partial = load.attachment(PartialBody.self)
        var conditional = request
        // A pipeline has no use for a 304 that answers the caller's own condition.
        conditional.headers = Preconditions.removed(from: load.request.headers)
        if let stale { conditional.headers = Preconditions.adding(stale.headers, to: conditional.headers) }
        if let partial { conditional.headers.append(contentsOf: partial.conditions) }

        let requestTime = load.clock.now
        let response = try await client.send(conditional)
        let responseTime = load.clock.now

        load.note("status \(response.status)")
        if response.status == 304, let stale {
            guard NotModified(response.headers, stored: stale.headers, request: [:]) == .confirmsStored else {
                load.note("the 304 is about another response than the stored one")
                load.detach(StaleEntry.self)
                return try await fetch(request, &load)
            }
            load.detach(PartialBody.self)
            load.attach(
                Revalidation(
                    stored: stale, headers: response.headers, requestHeaders: load.request.headers,
                    requestTime: requestTime, responseTime: responseTime))
            load.advance(to: .original(stale.encodedImage), from: .revalidated)
            return .revalidated
        }
        if let partial, partial.isUseless(after: response) {
            load.detach(PartialBody.self)
            return try await fetch(request, &load)
        }
        guard 200..<300 ~= response.status else {
            throw LoadError(
                .httpStatus, subject: load.subject,
                "The origin answered \(response.status) \(response.reason); there is no image to show.",
                httpStatus: response.status, retryAfter: RetryAfter.delay(in: response.headers, now: responseTime))
        }
        var exchange = HTTPExchange(
            url: response.url, requestHeaders: load.request.headers, status: response.status,
            headers: response.headers, requestTime: requestTime, responseTime: responseTime, body: [])
        let resumed = response.status == 206 ? partial : nil
        if let resumed {
            exchange = try resumed.continued(by: response, requestTime: requestTime, responseTime: responseTime)
            load.note("status 206, from byte \(exchange.body.count) on")
        } else if response.status == 206, load.request.headers[.range] == nil {
            throw LoadError(
                .malformedResponse, subject: load.subject,
                "The origin answered with a part (206) though the whole was asked for. Its operator has to mend that.")
        }
        // Whatever was kept is in the exchange now, or outdated.
        load.detach(PartialBody.self)
        try await read(response, into: &exchange, &load)
        try resumed?.checkLength(of: exchange)
        load.attach(FetchedExchange(exchange))
        let image = EncodedImage(bytes: exchange.body, declaredType: exchange.headers[.contentType])
        load.advance(to: .original(image), from: .network)
        return .network
    }

    /// Reads what comes to the end of what is there; what arrived before it broke off is kept for another attempt.
    private func read(_ response: TransferResponse, into exchange: inout HTTPExchange, _ load: inout Load) async throws
    {
        let expected = exchange.headers[.contentLength].flatMap { Int($0) }
        // A header may announce more than there is memory.
        exchange.body.reserveCapacity(max(0, min(expected ?? 0, byteLimit, 64 << 20)))
        do {
            for try await chunk in response.body {
                exchange.body += chunk
                guard exchange.body.count <= byteLimit else {
                    throw LoadError(
                        .tooManyBytes, subject: load.subject,
                        "The body has more than \(byteLimit) bytes; raise ImageLimits.encodedBytes to take it.")
                }
                load.report(.progress(received: exchange.body.count, expected: expected))
                load.attachment(ArrivingBytes.self)?.show(exchange.body, of: load)
            }
        } catch let error as LoadError where error.code == .unreachable || error.code == .timedOut {
            if let partial = PartialBody(exchange) { load.attach(partial) }
            throw error
        }
    }
}

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
        load.report(.sendingRequest(hadCachedImage: load.stale != nil))
        do {
            let source = try await fetch(TransferRequest(url: url, priority: load.priority), &load)
            load.report(.requestCompleted(source: source, error: nil))
            return .done
        } catch let error as LoadError {
            load.report(.requestCompleted(source: nil, error: error))
            throw error
        }
    }

    private func fetch(_ request: TransferRequest, _ load: inout Load) async throws -> LoadSource {
        let stale = load.attachment(StaleEntry.self)?.response
        var request = request
        request.headers = load.request.headers
        if let stale { request.headers.append(contentsOf: Validators.conditions(for: stale.headers)) }

        let requestTime = load.clock.now
        let response = try await client.send(request)
        let responseTime = load.clock.now

        load.note("status \(response.status)")
        if response.status == 304, let stale {
            load.attach(
                Revalidation(
                    stored: stale, headers: response.headers, requestHeaders: load.request.headers,
                    requestTime: requestTime, responseTime: responseTime))
            load.advance(to: .original(stale.encodedImage), from: .revalidated)
            return .revalidated
        }
        guard 200..<300 ~= response.status else {
            throw LoadError(
                .httpStatus, subject: load.subject,
                "The origin answered \(response.status) \(response.reason); there is no image to show.",
                httpStatus: response.status, retryAfter: RetryAfter.delay(in: response.headers, now: responseTime))
        }
        let body = try await read(response, load)
        load.attach(
            FetchedExchange(
                HTTPExchange(
                    url: response.url, requestHeaders: load.request.headers, status: response.status,
                    headers: response.headers, requestTime: requestTime, responseTime: responseTime, body: body)))
        let image = EncodedImage(bytes: body, declaredType: response.headers[.contentType])
        load.advance(to: .original(image), from: .network)
        return .network
    }

    private func read(_ response: TransferResponse, _ load: Load) async throws -> [UInt8] {
        let expected = response.headers[.contentLength].flatMap { Int($0) }
        var body: [UInt8] = []
        body.reserveCapacity(min(expected ?? 0, byteLimit))
        for try await chunk in response.body {
            body += chunk
            guard body.count <= byteLimit else {
                throw LoadError(
                    .tooManyBytes, subject: load.subject,
                    "The body has more than \(byteLimit) bytes; raise ImageLimits.encodedBytes to take it.")
            }
            load.report(.progress(received: body.count, expected: expected))
        }
        return body
    }
}

import PipelineImages
import PipelineHTTP
import Essentials
import HTTPTypes
public import Pipeline

/// Fetches the source's bytes from the origin.
///
/// The validators of a stale response are sent along, so that a 304 can confirm its stored bytes (RFC 9110 section 13).
/// The request's own conditions are left out: their 304 would be of no use here.
///
/// It sends one request. A redirect is an error, unless ``FollowRedirects`` stands around the stage.
///
/// The response is stored only by ``Store``, at the end of the list, so that bytes that don't decode are never stored.
public struct Fetch: Stage, RequestingStage {
    private let client: any TransferClient
    private let byteLimit: Int
    private static let longestRedirect = 65_536

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        StageSpecification(
            "fetch", "Fetches the source from the origin.", .byteLimit(resources.limits.encodedBytes)
        ) { Fetch(resources.client, byteLimit: $0) }
    }

    /// Makes the stage. A client has time limits of its own, such as `CurlClient.Options.totalTimeout`; a ``Timeout`` around
    /// ``FollowRedirects`` limits all requests of a load together.
    /// - Parameters:
    ///   - client: Sends the requests.
    ///   - byteLimit: The most bytes that a body may have; 64 MB by default.
    public init(_ client: any TransferClient, byteLimit: Int = 64_000_000) {
        self.client = client
        self.byteLimit = byteLimit
    }

    /// Asks through `client` for at most `byteLimit` bytes, 64 MB by default. The stage needs no cache any more: put
    /// ``FollowRedirects`` around the stages from the lookup to ``Store``.
    @available(*, deprecated, renamed: "init(_:byteLimit:)")
    public init(responses: HTTPCache, client: any TransferClient, byteLimit: Int = 64_000_000) {
        self.init(client, byteLimit: byteLimit)
    }

    public var accepts: Phases { .empty }

    /// The source's bytes, or a redirect; still nothing for a source that is not remote.
    public var produces: Phases { [.empty, .redirected, .original] }

    /// A response of the origin, or one that it has confirmed.
    public var leaves: Set<ResponseState.Kind> { [.fetched, .confirmed] }

    /// The rule of the client.
    package var urlRule: URLRule? { client.urlRule }

    public var identity: StageIdentity? { StageIdentity("\(byteLimit)", over: [client]) }

    /// Fetches the bytes.
    /// - Throws: `LoadError` with `httpStatus` for any status but 2xx, `unreachable`, `timedOut`, `tooManyBytes`, and
    ///   `stageFailed` for an error of another type from the client; `CancellationError` if the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .url(let url) = load.request.source else { return .skipped }
        load.codecs.begin()
        try ImageSource.check(url)
        // RFC 9111 section 5.2.1.7.
        if !load.request.headers.isEmpty, CacheControl(load.request.headers).contains("only-if-cached") {
            load.note("the request says only-if-cached")
            return .skipped
        }
        // Before the request leaves, not when it waits: then the origin might know before whoever watches.
        load.report(.sendingRequest(hadCachedImage: load.hasCachedImage))
        do {
            try await fetch(url, &load)
            return .done
        } catch let error where !(error is LoadError || error is CancellationError) {
            throw LoadError(
                .stageFailed, subject: load.subject,
                "The HTTP client failed with an error of its own; see the underlying error.", underlying: error)
        }
    }

    private func fetch(_ url: URL, _ load: inout Load) async throws {
        var confirming = load.response.stored
        while true {
            let asked = try await ask(url, confirming: confirming, load)
            let exchange = asked.exchange
            load.note(.answered(status: exchange.status))
            if exchange.status == 304, let stored = confirming {
                if NotModified(exchange.headers, stored: stored.headers, request: [:]) == .confirmsStored {
                    load.detach(PartialBody.self)
                    return load.deliver(exchange)
                }
                load.note("the 304 is about another response than the stored one")
                // The origin has another one, so that this one can't stand in for it either.
                if case .stale(let stored, let freshness) = load.response {
                    load.advance(response: .stale(stored, freshness.refused))
                }
                confirming = nil
            } else if let partial = asked.partial, partial.isUseless(after: exchange) {
                load.detach(PartialBody.self)
            } else if exchange.isRedirect && load.followsRedirects {
                return try await readRedirect(asked, &load)
            } else if 200..<300 ~= exchange.status {
                return try await read(asked, &load)
            } else {
                throw LoadError.status(of: exchange, reason: asked.response.reason, subject: load.subject)
            }
        }
    }

    /// A response whose body is still to come.
    private struct Asked {
        let exchange: HTTPExchange
        let response: TransferResponse
        let partial: PartialBody?
    }

    /// Sends the request, with the validators of the stored response and the fields that ask for the rest of a body that
    /// broke off.
    private func ask(_ url: URL, confirming stored: StoredResponse?, _ load: Load) async throws -> Asked {
        let headers = Preconditions.removed(from: load.request.headers)
        var request = TransferRequest(
            url: url, headers: headers, priority: load.priority, maximumRedirects: 0,
            partition: load.request.partition)
        request.crossesOrigins = load.crossesOrigins
        let partial = load.attachment(PartialBody.self).flatMap { $0.exchange.url == url ? $0 : nil }
        if let stored { request.headers = Preconditions.adding(stored.headers, to: request.headers) }
        if let partial { request.headers.append(contentsOf: partial.conditions) }
        let requestTime = load.clock.now
        let response = try await client.send(request)
        let exchange = HTTPExchange(
            url: response.url, requestHeaders: headers, status: response.status, headers: response.headers,
            requestTime: requestTime, responseTime: load.clock.now, body: [])
        return Asked(exchange: exchange, response: response, partial: partial)
    }

    /// Reads a redirect's own content.
    private func readRedirect(_ asked: Asked, _ load: inout Load) async throws {
        var exchange = asked.exchange
        for try await chunk in asked.response.body {
            exchange.body += chunk
            guard exchange.body.count <= Self.longestRedirect else {
                // Reading on costs more than it is worth, and a partial body isn't stored.
                exchange.headers[.cacheControl] = "no-store"
                break
            }
        }
        load.deliver(exchange)
    }

    /// Reads the image.
    private func read(_ asked: Asked, _ load: inout Load) async throws {
        var exchange = asked.exchange
        let resumed = exchange.status == 206 ? asked.partial : nil
        if let resumed {
            exchange = try resumed.continued(by: exchange)
            load.note(.resumed(from: exchange.body.count))
        } else if exchange.status == 206, load.request.headers[.range] == nil {
            throw LoadError(
                .malformedResponse, subject: load.subject,
                "The origin answered with a part (206) though the whole was asked for.")
        }
        // The partial body is in the exchange now, or outdated.
        load.detach(PartialBody.self)
        try await read(asked.response, into: &exchange, &load)
        try resumed?.checkLength(of: exchange)
        if case .url(let url) = load.request.source, exchange.url != url {
            // The client has followed a redirect by itself. How long that redirect holds is unknown.
            load.noteRedirect(
                HTTPExchange(
                    url: url, status: 302, headers: [:], requestTime: exchange.requestTime,
                    responseTime: exchange.responseTime, body: []))
        }
        load.deliver(exchange)
    }

    /// Appends the response's body to the exchange. If it breaks off, the bytes so far are kept for another attempt.
    private func read(
        _ response: TransferResponse, into exchange: inout HTTPExchange, _ load: inout Load
    ) async throws {
        let expected = exchange.headers[.contentLength].flatMap { Int($0) }
        // A header may announce more than there is memory.
        exchange.body.reserveCapacity(max(0, min(expected ?? 0, byteLimit, 64 << 20)))
        do {
            for try await chunk in response.body {
                exchange.body += chunk
                guard exchange.body.count <= byteLimit else {
                    throw LoadError(
                        .tooManyBytes, subject: load.subject,
                        "The body has more than \(byteLimit) bytes. Raise the limit of source bytes.")
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

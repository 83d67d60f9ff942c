public import Essentials
import HTTPTypes
import Logging
import Pipeline

/// An HTTP client that runs libcurl on one thread of its own, for any number of concurrent transfers.
///
/// Connections are kept alive and shared, over TLS with HTTP/2. Bodies are streamed, and over HTTP/1.1 received no
/// faster than they are read. Over HTTP/2 unread bytes are kept in memory, up to ``Options/maximumBodyBytes``, unless
/// the request says that it ``TransferRequest/needsBackPressure``. The thread and libcurl itself start with the first
/// request. The defaults are safe: only public addresses, only http and https, at most 64 MB, and no proxy unless you
/// set one.
///
/// ```swift
/// let client = CurlClient()
/// let response = try await client.send(TransferRequest(url: url))
/// for try await chunk in response.body { … }
/// ```
///
/// A kept HTTP/1 connection is used again only if nothing has arrived on it since its last response ended: such bytes
/// would be taken for the next response. Otherwise the request is sent on a new connection. What remains: HTTP/1 numbers
/// no responses, so bytes that an origin sends unasked between a request and its response can't be told from that
/// response (RFC 9112 section 9.2). They only ever reach requests to the same origin, also through a proxy.
///
/// Releasing a response before its body is read cancels the transfer, as does cancelling the task that reads it.
public final class CurlClient: TransferClient {
    /// The options that the client was made with.
    package let options: Options

    private let thread: CurlThread

    /// Makes a client. Nothing starts before the first request.
    public init(_ options: Options = Options()) {
        self.options = options
        thread = CurlThread(options: options)
        if options.trustAnyCertificate {
            Logger(label: "pipeline.http").warning(
                "trustAnyCertificate is on: anyone on the path can read and change every transfer. Name the server's authority in caFile instead."
            )
        }
    }

    deinit { thread.stop() }

    /// ``Options/allows``, together with ``Options/addresses`` for hosts that are addresses.
    public var urlRule: (@Sendable (URL) -> Bool)? { options.urlRule }

    /// Fails the transfers in flight, ends the thread and returns when it has ended. A client does the same when it is
    /// released, without waiting.
    public func shutdown() async {
        thread.stop()
        await thread.ended()
    }

    /// Sends a request, follows its redirects and returns as soon as the final status line and fields have arrived.
    /// - Throws: `LoadError` with the code `invalidURL`, `unsupportedScheme` or `invalidHeader` before anything is
    ///   sent; `refused` for a URL or an address that is not allowed, or too many redirects; `unreachable`, `timedOut`,
    ///   `malformedResponse` or `tooManyBytes`; `CancellationError` at once if the task is cancelled.
    public func send(_ request: TransferRequest) async throws -> TransferResponse {
        try request.check()
        var request = request
        var redirects = 0
        var deadline: Duration?
        while true {
            let target = try CurlURL(request.url)
            guard options.allows?(request.url) ?? true else {
                throw LoadError(
                    .refused, subject: redactedURL(request.url.absoluteString),
                    "The URL, to which a redirect may have led, is not among those that may be asked. Allow it in "
                        + "CurlClient.Options.allows.")
            }
            let transfer = CurlTransfer(request, target: target, deadline: deadline, thread: thread)
            let head = try await transfer.start()
            let body = CurlBody(transfer, client: self)
            guard request.maximumRedirects > 0,
                let next = try TransferRedirect.next(of: request, from: target, status: head.status, head.headers)
            else {
                return TransferResponse(
                    status: head.status, reason: head.reason, headers: head.headers, url: request.url,
                    interim: head.interim, body: TransferBody { try await body.next() })
            }
            redirects += 1
            guard redirects <= request.maximumRedirects else {
                throw CurlFailure.error(
                    .refused, transfer,
                    "redirects once more, to \(redactedURL(next.url.absoluteString)), and \(request.maximumRedirects) "
                        + "redirects are allowed. If they aren't a loop, raise maximumRedirects.")
            }
            try await body.drain()
            deadline = head.deadline
            request = next
        }
    }
}

import FoundationEssentials
import HTTPTypes
import Logging
import Pipeline

/// The HTTP client: libcurl on one thread of its own, for any number of transfers at once.
///
/// Connections are kept alive and shared, over TLS with HTTP/2; bodies are streamed, and over HTTP/1.1 received no
/// faster than they are read. Over HTTP/2 what is not read yet is kept, up to ``Options/maximumBodyBytes``, unless the
/// request says that it ``TransferRequest/needsBackPressure``. The thread and libcurl itself start with the first
/// request. What is safe is the default: public addresses alone, http and https alone, at most 64 MB, no proxy that was
/// not asked for.
///
/// ```swift
/// let client = CurlClient()
/// let response = try await client.send(TransferRequest(url: url))
/// for try await chunk in response.body { … }
/// ```
///
/// Leaving a body unread, by letting the response go, ends the transfer, as does cancelling the task that reads it.
public final class CurlClient: HTTPClient {
    /// What the client was made with.
    package let options: Options

    private let thread: CurlThread

    /// Makes a client. Nothing starts before the first request.
    public init(_ options: Options = Options()) {
        self.options = options
        thread = CurlThread(options: options)
        if options.trustAnyCertificate {
            Logger(label: "pipeline.http").warning(
                "trustAnyCertificate is on: whoever is on the way can read and change every transfer. Name the server's authority in caFile instead."
            )
        }
    }

    deinit { thread.stop() }

    /// Ends transfers under way with an error and the thread after them; returns when it has ended. A client that is
    /// let go does the same by itself.
    public func shutdown() async {
        thread.stop()
        await thread.ended()
    }

    /// Sends a request, follows its redirects and returns as soon as the final status line and fields are there.
    /// - Throws: `LoadError` with the code `invalidURL`, `unsupportedScheme` or `invalidHeader` before anything is
    ///   sent; `refused` for an address that is not allowed or more redirects than are; `unreachable`, `timedOut`,
    ///   `malformedResponse` or `tooManyBytes`; `CancellationError` at once if the task is cancelled.
    public func send(_ request: TransferRequest) async throws -> TransferResponse {
        try request.check()
        var request = request
        var redirects = 0
        var deadline: Duration?
        while true {
            let target = try CurlURL(request.url)
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

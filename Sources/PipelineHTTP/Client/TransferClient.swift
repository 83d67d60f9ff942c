public import Essentials

/// Sends requests over the network. ``CurlClient`` is this package's implementation; a test may pass another.
public protocol TransferClient: Sendable {
    /// Sends a request and returns as soon as the final status line and fields have arrived; the body then arrives as
    /// it is read.
    ///
    /// A client follows at most ``TransferRequest/maximumRedirects`` redirects. With 0 it returns the redirect itself:
    /// caches ask for that, and store each hop separately. If a client follows one anyway, the response is stored as
    /// stale, since it is unknown how long the redirect is valid.
    ///
    /// A client that decodes a body (RFC 9110 section 8.4) removes `Content-Encoding` and `Content-Length`, which describe
    /// the encoded bytes. Caches take a body with fewer bytes than `Content-Length` for one that broke off.
    /// - Throws: `LoadError` with the code of the failure, such as `unreachable` or `timedOut`; `CancellationError` if
    ///   the task is cancelled.
    func send(_ request: TransferRequest) async throws -> TransferResponse

    /// Ends the transfers in flight and frees the client's resources; later requests fail.
    ///
    /// A client that wraps another one shuts that down. There is no default, which such a client would inherit
    /// unnoticed. Leave the method empty if there is nothing to free.
    func shutdown() async

    /// Decides which URLs may be asked; `nil` if any may.
    ///
    /// Caches ask it too before they follow a stored redirect: what another program has stored leads no further than
    /// what this client would fetch. A client that wraps another one returns that client's rule. There is no default,
    /// which such a client would inherit unnoticed.
    var urlRule: (@Sendable (URL) -> Bool)? { get }
}

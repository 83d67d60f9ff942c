/// What sends requests over the network; ``CurlClient`` is the one of this package, a test may pass another.
public protocol HTTPClient: Sendable {
    /// Sends a request and returns as soon as the final status line and fields are there; the body then arrives as it
    /// is read.
    ///
    /// A client hands redirects to the caller once it has followed ``TransferRequest/maximumRedirects`` of them; caches
    /// ask for none, and store each hop by itself. What a client has followed all the same is stored as stale: nobody
    /// knows for how long the redirect holds.
    /// - Throws: `LoadError` with what went wrong, such as `unreachable` or `timedOut`; `CancellationError` if the
    ///   task is cancelled.
    func send(_ request: TransferRequest) async throws -> TransferResponse

    /// Ends what is under way and gives back what the client holds; afterwards every request fails. By default nothing.
    func shutdown() async
}

extension HTTPClient {
    /// There is nothing to give back.
    public func shutdown() async {}
}

public import FoundationEssentials
import HTTPTypes
import Pipeline

/// A client that gets a URL's bytes from a closure: from an object store, another library, a table in a test.
///
/// ```swift
/// let loader = ImageLoader(
///     PipelineResources(memory: MemoryCache(), responses: responses, client: ClosureClient { url in try await bytes(url) }))
/// ```
///
/// What it gives counts as a response with status 200 and no fields, so that the request's `Expiry` decides how long it is
/// fresh. Every stage around `Fetch` works as with HTTP: caches, sharing, retries, the stale image in time of need.
public struct ClosureClient: HTTPClient {
    private let load: @Sendable (URL) async throws -> [UInt8]

    /// Wraps a closure that gets a URL's bytes.
    public init(_ load: @escaping @Sendable (URL) async throws -> [UInt8]) { self.load = load }

    /// Asks the closure, whatever the method and the fields.
    /// - Throws: a `LoadError` or `CancellationError` as the closure throws it; for any other error a `LoadError` with
    ///   the code `unreachable` that has it as its underlying error.
    public func send(_ request: TransferRequest) async throws -> TransferResponse {
        do {
            let bytes = try await load(request.url)
            return TransferResponse(status: 200, headers: [:], url: request.url, body: TransferBody(bytes))
        } catch let error where !(error is LoadError || error is CancellationError) {
            throw LoadError(
                .unreachable, subject: redactedURL(request.url.absoluteString),
                "The closure that loads failed; see the underlying error.", underlying: error)
        }
    }
}

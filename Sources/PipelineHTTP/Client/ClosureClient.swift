public import Essentials
import HTTPTypes
import Pipeline

/// A client that gets a URL's bytes from a closure: from an object store, another library, a table in a test.
///
/// ```swift
/// let loader = ImageLoader(
///     PipelineResources(memory: MemoryCache(), responses: responses, client: ClosureClient { url in try await bytes(url) }))
/// ```
///
/// The bytes count as a response with status 200 and no fields, so the request's `Expiry` decides how long they are
/// fresh. Every stage around `Fetch` works as with HTTP: caches, sharing, retries, and stale images as stand-ins.
public final class ClosureClient: TransferClient {
    private let load: @Sendable (URL) async throws -> [UInt8]

    /// Wraps a closure that gets a URL's bytes.
    public init(_ load: @escaping @Sendable (URL) async throws -> [UInt8]) { self.load = load }

    /// Calls the closure, whatever the method and the fields.
    /// - Throws: a `LoadError` or `CancellationError` of the closure unchanged; any other error as the underlying error
    ///   of a `LoadError` with the code `unreachable`.
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

    /// No rule: the closure gets every URL.
    public var urlRule: (@Sendable (URL) -> Bool)? { nil }

    /// Does nothing: whatever the closure uses belongs to its program.
    public func shutdown() async {}
}

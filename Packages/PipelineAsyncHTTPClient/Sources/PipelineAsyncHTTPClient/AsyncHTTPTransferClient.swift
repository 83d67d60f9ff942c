public import AsyncHTTPClient
public import FoundationEssentials
import HTTPTypes
import NIOCore
import NIOHTTP1
public import PipelineHTTP
import Synchronization

/// Sends requests through an `HTTPClient` of AsyncHTTPClient, which a program on SwiftNIO may have anyway.
///
/// ```swift
/// let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .transfers)
/// let client = AsyncHTTPTransferClient(http) { url in url.host() == "images.example" }
/// let loader = ImageLoader(PipelineResources(memory: MemoryCache(), responses: responses, client: client))
/// ```
///
/// The `HTTPClient` belongs to the program, which shuts it down after the loader. It has to follow no redirect and
/// decompress nothing, as with `HTTPClient.Configuration.transfers`: caches store each hop, and the bytes as they were
/// sent. A response that shows another configuration is refused.
///
/// > Warning: The addresses that names resolve to can't be checked. A host in a stranger's URL may lead into your own
/// > network, whatever it is called. So `allows` should accept only hosts that you trust. Where any host may be asked,
/// > use `CurlClient`, which checks the address of each connection.
///
/// Other differences from `CurlClient`:
/// - Requests that wait for a connection are sent in the order of their arrival, whatever their priority.
/// - 1xx responses aren't passed on, reason phrases are the usual ones of the status, and bytes of fields that aren't
///   UTF-8 arrive as replacement characters.
/// - If a kept connection dies, its request isn't sent again; put `Retry` around `Fetch`.
/// - A reader that pauses for longer than the `HTTPClient`'s read timeout fails with `timedOut`.
///
/// Bodies are received no faster than they are read. Releasing a response before its body is read cancels the transfer,
/// as does cancelling the task that reads it.
public final class AsyncHTTPTransferClient: TransferClient {
    private struct State {
        var isShutDown = false
        /// What ends each transfer in flight.
        var transfers: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private let http: HTTPClient
    private let totalTimeout: Duration
    private let maximumBodyBytes: Int
    private let userAgent: String
    private let allows: @Sendable (URL) -> Bool
    private let state = Mutex(State())

    /// Wraps a client.
    /// - Parameters:
    ///   - http: Sends the requests.
    ///   - totalTimeout: How long a request may take from its start to the last byte of its body; 60 seconds by default.
    ///     This includes the wait for a connection and a slow reader.
    ///   - maximumBodyBytes: How many bytes a body may have, declared or not; 64,000,000 by default.
    ///   - userAgent: The `User-Agent` field (RFC 9110 section 10.1.5) of requests that have none; empty to send none.
    ///   - allows: Decides whether a URL may be asked. It is called for every request, those that follow redirects
    ///     included, and by caches before they follow a stored redirect. It must return quickly.
    public init(
        _ http: HTTPClient, totalTimeout: Duration = .seconds(60), maximumBodyBytes: Int = 64_000_000,
        userAgent: String = "pipeline/0.1", allows: @escaping @Sendable (URL) -> Bool
    ) {
        self.http = http
        self.totalTimeout = totalTimeout
        self.maximumBodyBytes = maximumBodyBytes
        self.userAgent = userAgent
        self.allows = allows
    }

    public var urlRule: (@Sendable (URL) -> Bool)? { allows }

    /// Fails this client's transfers in flight and its later requests. The `HTTPClient` isn't shut down.
    public func shutdown() async {
        let transfers = state.withLock { state in
            state.isShutDown = true
            return state.transfers
        }
        for end in transfers.values { end() }
    }

    /// Sends a request and returns as soon as the status line and fields have arrived, those of a redirect included.
    /// - Throws: `LoadError` with the code `invalidURL`, `unsupportedScheme`, `invalidHeader` or `refused` before anything
    ///   is sent; `unreachable`, `timedOut`, `malformedResponse` or `tooManyBytes`; `refused` also if the `HTTPClient`
    ///   follows redirects; `CancellationError` at once if the task is cancelled.
    public func send(_ request: TransferRequest) async throws -> TransferResponse {
        let failure = TransferFailure(request.url)
        let message = try HTTPClientRequest(request, userAgent: userAgent, failure)
        guard allows(request.url) else {
            throw failure.error(.refused, "is not to be asked for this URL. Accept it in allows.")
        }
        try Task.checkCancellation()
        let transfer = try begin(failure)
        let response = try await transfer.step { [http] _ in try await http.execute(message, deadline: .distantFuture) }
        guard response.history.count == 1 else { throw failure.followedRedirect() }
        try transfer.receive(ResponseReader(response, of: request.method, limit: maximumBodyBytes, failure))
        return TransferResponse(
            status: Int(response.status.code), reason: response.status.reasonPhrase,
            headers: HTTPFields(response.headers),
            url: request.url, body: TransferBody { try await transfer.next() })
    }

    private func begin(_ failure: TransferFailure) throws -> Transfer {
        let transfer = Transfer(failure)
        let id = ObjectIdentifier(transfer)
        let isShutDown = state.withLock { state in
            if !state.isShutDown { state.transfers[id] = { [weak transfer] in transfer?.end(failure.shutDown()) } }
            return state.isShutDown
        }
        if isShutDown { throw failure.shutDown() }
        let deadline = http.eventLoopGroup.any().scheduleTask(in: TimeAmount(totalTimeout)) {
            [weak transfer, totalTimeout] in
            transfer?.end(failure.overdue(after: totalTimeout))
        }
        transfer.whenOver { [weak self] in
            deadline.cancel()
            self?.state.withLock { _ = $0.transfers.removeValue(forKey: id) }
        }
        return transfer
    }
}

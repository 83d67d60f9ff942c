import Foundation
import Hummingbird
import Stages

@testable import Thumbnails

/// A service on a free port of 127.0.0.1, and a client for it.
struct RunningService: Sendable {
    struct Response: Sendable {
        let status: Int
        let headers: HTTPFields
        let body: [UInt8]
    }

    let port: Int
    private let client = CurlClient(.init(addresses: .any))

    /// Asks for the thumbnail of a URL, in 64×64 pixels unless the query says otherwise.
    func thumbnail(_ url: String, _ headers: HTTPFields = [:], size: String = "64") async throws -> Response {
        var address = URLComponents()
        (address.scheme, address.host, address.port, address.path) = ("http", "127.0.0.1", port, "/thumbnail")
        address.queryItems = [URLQueryItem(name: "url", value: url), URLQueryItem(name: "size", value: size)]
        guard let address = address.url else { throw URLError(.badURL) }
        let response = try await client.send(TransferRequest(url: address, headers: headers))
        var body: [UInt8] = []
        for try await chunk in response.body { body += chunk }
        return Response(status: response.status, headers: response.headers, body: body)
    }
}

/// Runs the service over a loader while `body` runs.
func withService(_ loader: ImageLoader, _ body: (RunningService) async throws -> Void) async throws {
    let (ports, running) = AsyncStream<Int>.makeStream()
    var application = Application(
        router: thumbnails(loader), configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { running.yield($0.localAddress?.port ?? 0) })
    application.logger.logLevel = .critical
    let server = Task { [application] in try await application.run() }
    defer { server.cancel() }
    var port = ports.makeAsyncIterator()
    if let port = await port.next() { try await body(RunningService(port: port)) }
    await loader.shutdown()
}

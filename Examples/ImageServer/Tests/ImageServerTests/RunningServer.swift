import Foundation
import HTTPTypes
import Logging
import PipelineTesting
import ServiceLifecycle
import Stages

@testable import ImageServer
@testable import PipelineServer

/// A server on a free port of 127.0.0.1, with a folder of its own for its cache, and a client for it.
struct RunningServer: Sendable {
    struct Answer: Sendable {
        let status: Int
        let fields: HTTPFields
        let body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    let port: Int
    let server: Server
    private let client = CurlClient(.init(addresses: .any))

    func get(
        _ path: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get
    ) async throws -> Answer {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw SettingsError("no URL: \(path)") }
        let response = try await client.send(
            TransferRequest(method: method, url: url, headers: fields, maximumRedirects: 0))
        var body: [UInt8] = []
        for try await chunk in response.body { body += chunk }
        return Answer(status: response.status, fields: response.headers, body: body)
    }
}

/// Runs a server while `body` runs.
/// - Parameters:
///   - options: The command's options, besides those for the port and the cache.
///   - codecs: The formats that are read; by default those of the options.
///   - clock: The server's clock.
///   - body: Uses the server.
func withServer(
    _ options: [String], codecs: ImageCodecs? = nil, clock: any LoadClock = SystemClock(),
    _ body: (RunningServer) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "image-server-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let settings = try Settings.parse(["--port", "0", "--cache", folder, "--allow-address", "127.0.0.1"] + options)
    let metrics = PrometheusMetrics()
    let formats = if let codecs { codecs } else { try await settings.codecs(metrics) }
    let server = try Server(settings, codecs: formats, metrics: metrics, clock: clock)
    let (ports, found) = AsyncStream<Int>.makeStream()
    let services = ServiceGroup(
        services: [server.application { found.yield($0) }],
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let running = Task { try await services.run() }
    for await port in ports {
        do {
            try await body(RunningServer(port: port, server: server))
        } catch {
            await services.triggerGracefulShutdown()
            throw error
        }
        break
    }
    await services.triggerGracefulShutdown()
    try await running.value
}

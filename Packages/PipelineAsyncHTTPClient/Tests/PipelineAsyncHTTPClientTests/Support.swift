import AsyncHTTPClient
import FoundationEssentials
import HTTPTypes
import PipelineAsyncHTTPClient
import PipelineHTTP
import Testing

/// A client over an `HTTPClient` of its own, which is shut down with the last reference.
final class LocalClient: Sendable {
    let http: HTTPClient
    let client: AsyncHTTPTransferClient

    init(
        _ configuration: HTTPClient.Configuration = .patient, totalTimeout: Duration = .seconds(600),
        maximumBodyBytes: Int = 64_000_000, allows: @escaping @Sendable (URL) -> Bool = { _ in true }
    ) {
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        client = AsyncHTTPTransferClient(
            http, totalTimeout: totalTimeout, maximumBodyBytes: maximumBodyBytes, allows: allows)
    }

    deinit { try? http.syncShutdown() }

    /// Sends a request and reads the whole response.
    func get(
        _ url: URL, headers: HTTPFields = [:], method: HTTPRequest.Method = .get, body: [UInt8]? = nil
    ) async throws -> (response: TransferResponse, body: [UInt8]) {
        let request = TransferRequest(method: method, url: url, headers: headers, body: body)
        let response = try await client.send(request)
        return (response, try await response.bytes())
    }
}

extension HTTPClient.Configuration {
    /// Tests share the machine: what none of them is about must not run out while others compute.
    static var patient: Self {
        var configuration = transfers
        configuration.timeout.connect = .seconds(120)
        configuration.timeout.read = .seconds(120)
        return configuration
    }
}

extension TransferResponse {
    /// Reads the body to its end.
    func bytes() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in body {
            #expect(!chunk.isEmpty)
            bytes += chunk
        }
        return bytes
    }
}

/// The error of a transfer that has to fail.
func failure<Value>(
    _ code: LoadError.Code, of body: () async throws -> Value, sourceLocation: SourceLocation = #_sourceLocation
) async -> LoadError? {
    do {
        _ = try await body()
        Issue.record("This should have failed with \(code).", sourceLocation: sourceLocation)
    } catch let error as LoadError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("This should have failed with \(code), not \(error).", sourceLocation: sourceLocation)
    }
    return nil
}

/// Waits until this machine has no open connection to a port of 127.0.0.1.
func connectionsEnd(to port: Int) async throws {
    let digits = String(port, radix: 16, uppercase: true)
    let remote = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
    while try String(decoding: Data(contentsOf: URL(filePath: "/proc/net/tcp")), as: UTF8.self).split(separator: "\n")
        .contains(where: { line in
            let words = line.split(separator: " ")
            return words.count > 3 && words[2] == remote && words[3] == "01"
        })
    { await Task.yield() }
}

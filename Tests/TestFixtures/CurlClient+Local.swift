package import Essentials
package import HTTPTypes
package import PipelineHTTP

extension CurlClient.Options {
    /// Options under which the scripted origin, on loopback, may be asked.
    package static var local: CurlClient.Options {
        var options = CurlClient.Options()
        options.addresses = .any
        // Tests share the machine: what none of them is about must not run out while others compute.
        options.connectTimeout = .seconds(120)
        options.stallTimeout = .seconds(120)
        options.totalTimeout = .seconds(600)
        return options
    }
}

extension CurlClient {
    /// Sends a request without a body and reads the whole response.
    package func get(_ url: URL, headers: HTTPFields = [:]) async throws -> (response: TransferResponse, body: [UInt8])
    {
        let response = try await send(TransferRequest(url: url, headers: headers))
        return (response, try await response.bytes())
    }
}

extension TransferResponse {
    /// Reads the body to its end.
    package func bytes() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in body { bytes += chunk }
        return bytes
    }

    package func text() async throws -> String { String(decoding: try await bytes(), as: UTF8.self) }
}

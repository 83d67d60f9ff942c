import FoundationEssentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

import Stages

extension CurlClient.Options {
    /// Options under which the scripted origin, on loopback, may be asked.
    static var local: CurlClient.Options {
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
    func get(_ url: URL, headers: HTTPFields = [:]) async throws -> (response: TransferResponse, body: [UInt8]) {
        let response = try await send(TransferRequest(url: url, headers: headers))
        return (response, try await response.bytes())
    }
}

extension TransferResponse {
    /// Reads the body to its end.
    func bytes() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in body { bytes += chunk }
        return bytes
    }

    func text() async throws -> String { String(decoding: try await bytes(), as: UTF8.self) }
}

/// The error of a load that has to fail.
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

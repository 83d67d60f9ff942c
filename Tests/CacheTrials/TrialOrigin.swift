import PipelineTesting
import Essentials
import HTTPTypes
import Pipeline
import Stages

/// Answers without a network: with a new version each time, or that the one at hand still holds.
final class TrialOrigin: TransferClient {
    private let state: Lock<SeededGenerator>
    private let lifetimes: [String]

    init(seed: UInt64, lifetimes: [String] = ["max-age=0", "max-age=1", "max-age=3600", "no-store"]) {
        state = Lock(SeededGenerator(seed: ~seed))
        self.lifetimes = lifetimes
    }

    func send(_ request: TransferRequest) async throws -> TransferResponse {
        let (version, holds, lifetime) = state.withLock { random in
            (
                Int.random(in: 0..<1 << 40, using: &random), Bool.random(using: &random),
                lifetimes.randomElement(using: &random) ?? ""
            )
        }
        if let tag = request.headers[.ifNoneMatch], holds {
            return TransferResponse(
                status: 304, headers: [.eTag: tag, .cacheControl: lifetime], url: request.url, body: TransferBody([]))
        }
        let body = TrialBody(request.url.lastPathComponent, version: version)
        return TransferResponse(
            status: 200, headers: [.eTag: "\"\(version)\"", .cacheControl: lifetime], url: request.url,
            body: TransferBody(body.bytes))
    }

    var urlRule: (@Sendable (URL) -> Bool)? { nil }

    func shutdown() async {}
}

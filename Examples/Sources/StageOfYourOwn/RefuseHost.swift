import Foundation
import Pipeline

/// Refuses requests to a host.
struct RefuseHost: Stage {
    let host: String
    let accepts: Phases = .empty

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .url(let url) = load.request.source, url.host() == host else { return .skipped }
        throw LoadError(.refused, subject: load.subject, "\(host) is on the block list.")
    }
}

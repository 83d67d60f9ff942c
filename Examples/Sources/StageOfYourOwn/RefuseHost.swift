import Foundation
public import Pipeline

/// Refuses to ask a host, wherever it stands in a list.
public struct RefuseHost: Stage {
    let host: String
    public let accepts: Phases = .empty

    public init(_ host: String) { self.host = host }

    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .url(let url) = load.request.source, url.host() == host else { return .skipped }
        throw LoadError(.refused, subject: load.subject, "\(host) is on the block list.")
    }
}

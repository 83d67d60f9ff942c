import HTTPTypes
import Hummingbird
import NIOCore

/// Finds out which client sent a request: the other end of the connection, or the one that a trusted proxy names.
struct ClientAddresses: Sendable {
    /// The addresses of the proxies whose `X-Forwarded-For` is believed.
    let proxies: Set<String>

    func address(of request: Request, _ channel: any Channel) -> String {
        address(peer: channel.remoteAddress?.ipAddress ?? "unknown", forwardedFor: request.headers[.forwardedFor])
    }

    /// Goes through the list from its end, where the nearest proxy has written, to the first address that isn't a proxy's.
    /// What is before that may be a lie.
    func address(peer: String, forwardedFor: String?) -> String {
        guard proxies.contains(peer), let forwardedFor else { return peer }
        let hops = forwardedFor.split(separator: ",").map { hop in
            String(hop.drop(while: \.isWhitespace).prefix { !$0.isWhitespace })
        }
        return hops.last { !proxies.contains($0) } ?? hops.first ?? peer
    }
}

extension HTTPField.Name {
    fileprivate static let forwardedFor = name("X-Forwarded-For")
}

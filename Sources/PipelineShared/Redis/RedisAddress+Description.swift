import Pipeline

extension RedisAddress: CustomStringConvertible, CustomReflectable {
    /// The address without the user, the password and any file, such as `redis://cache.internal:6379/2`.
    public var description: String {
        let (scheme, selected) = (tls == nil ? "redis" : "rediss", database == 0 ? [] : ["db=\(database)"])
        switch endpoint {
        case .host: return "\(scheme)://\(endpoint)/\(database)\(parameters())"
        case .socket: return "unix://\(endpoint)\(parameters(selected))"
        case .primary: return "\(scheme)+sentinel://\(endpoint)\(parameters(selected))"
        }
    }

    private func parameters(_ others: [String] = []) -> String {
        let all = others + (namespace.map { ["namespace=\(printable($0))"] } ?? [])
        return all.isEmpty ? "" : "?" + all.joined(separator: "&")
    }

    /// The description alone, so that `dump` shows no password either.
    public var customMirror: Mirror { Mirror(self, children: ["address": description]) }
}

extension RedisAddress.Endpoint: CustomStringConvertible {
    /// The part of a URL.
    package var description: String {
        switch self {
        case .host(let host, let port): "\(host.contains(":") ? "[\(printable(host))]" : printable(host)):\(port)"
        case .socket(let path): printable(path)
        case .primary(let sentinels):
            sentinels.servers.map(\.description).joined(separator: ",") + "/" + printable(sentinels.primary)
        }
    }
}

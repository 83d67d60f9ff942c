import Essentials
import HTTPTypes

/// The hosts under which this server is asked (RFC 9110 section 7.2).
///
/// What a request says of the host gets into addresses that caches keep, so only known hosts are answered. It also keeps
/// pages of other origins from a server on the loopback address, to which any name may lead (DNS rebinding).
public struct Hosts: Sendable {
    private let names: Set<String>
    private let publicURL: String?
    /// By what clients send.
    private let known = Remembered<String, String>()

    /// Makes the list.
    /// - Parameters:
    ///   - publicURL: The address of the server as clients see it, without a slash at its end.
    ///   - names: Further hosts.
    ///   - host: The address to listen at. For a loopback address alone, its names are the list.
    /// - Throws: ``ServerConfigurationError`` without any host, and for a public URL that isn't one.
    public init(
        publicURL: String? = nil, names: [String] = [], listeningAt host: String
    ) throws(ServerConfigurationError) {
        var all = Set(names.map { $0.lowercased() })
        if let publicURL {
            guard let url = URL(string: publicURL), ["http", "https"].contains(url.scheme), url.query() == nil,
                let host = url.host(), let name = Self.name(of: host.contains(":") ? "[\(host)]" : host)
            else { throw ServerConfigurationError("The public URL, \(publicURL), is not an http or https URL.") }
            all.insert(name.lowercased())
        }
        if all.isEmpty, Self.isLoopback(host) { all = Set(Self.loopback) }
        guard !all.isEmpty else {
            throw ServerConfigurationError(
                "Say under which host clients ask this server. Only one that listens at a loopback address does without."
            )
        }
        self.names = all
        self.publicURL = publicURL.map { String($0.hasSuffix("/") ? $0.dropLast() : $0[...]) }
    }

    /// The hosts of a page for this machine and for those that observe it, such as that of ``PrometheusMetrics``: the names of the
    /// loopback address, the address to listen at, and further ones.
    /// - Parameters:
    ///   - host: The address to listen at.
    ///   - names: Further hosts.
    public init(observedAt host: String, names: [String] = []) {
        self.names = Set(
            (names + Self.loopback + [host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host]).map {
                $0.lowercased()
            })
        publicURL = nil
    }

    private static let loopback = ["localhost", "127.0.0.1", "[::1]"]

    /// Whether an address to listen at can be reached from this machine alone.
    public static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host == "[::1]" || host.hasPrefix("127.")
    }

    /// Returns the address of this server for the responses to a request.
    /// - Throws: 400 without a host or for a malformed one (RFC 9112 section 3.2), 421 for an unknown one (RFC 9110
    ///   section 15.5.20).
    func address(for request: HTTPRequest) throws(Problem) -> String {
        // A second one stays among the fields.
        guard request.headerFields[.secondHost] == nil else {
            throw Problem(.badRequest, "There are several Host fields.")
        }
        let authority = request.authority
        // What is long enough to fill the memory is not a host of the list.
        guard let authority, authority.utf8.count <= 256 else { return try address(for: authority) }
        return try known.value(authority) { () throws(Problem) in try address(for: authority) }
    }

    func address(for authority: String?) throws(Problem) -> String {
        guard let authority, let name = Self.name(of: authority) else {
            throw Problem(.badRequest, "The Host field is missing or malformed.")
        }
        guard names.contains(name.lowercased()) else {
            throw Problem(.misdirectedRequest, "This server isn't asked under this host.")
        }
        return publicURL ?? "http://\(authority)"
    }

    /// A host of the list, for clients that name none, as those of HTTP/1.0 may.
    public var standard: String { names.min() ?? "localhost" }

    /// The name or address of an authority without its port; `nil` if it is malformed (RFC 3986 section 3.2.2).
    private static func name(of authority: String) -> Substring? {
        let isLiteral = authority.hasPrefix("[")
        let literalEnd = isLiteral ? authority.firstIndex(of: "]").map { authority.index(after: $0) } : nil
        let end = literalEnd ?? authority.firstIndex(of: ":") ?? authority.endIndex
        let (name, port) = (authority[..<end], authority[end...])
        guard port.isEmpty || (port.hasPrefix(":") && port.dropFirst().plainNumber.map { $0 < 65536 } ?? false) else {
            return nil
        }
        let isPlain =
            isLiteral ? NetworkAddress(name.dropFirst().dropLast()) != nil : name.percentEncoded == name
        return !name.isEmpty && isPlain ? name : nil
    }
}

extension HTTPField.Name {
    /// A `Host` that is among the fields, where the first isn't.
    fileprivate static let secondHost = name("Host")
}

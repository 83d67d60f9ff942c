import HTTPTypes
import LibC

/// Finds out which client sent a request: the other end of the connection, or the one that a trusted proxy names.
public struct ClientAddresses: Sendable {
    /// The proxies whose `X-Forwarded-For` is believed.
    private let proxies: [Network]

    /// Trusts some proxies; by default none.
    /// - Parameter proxies: Addresses, or networks such as `10.0.0.0/8`.
    /// - Throws: ``ServerConfigurationError`` for one that is neither.
    public init(proxies: [String]) throws(ServerConfigurationError) {
        var networks: [Network] = []
        for text in proxies {
            guard let network = Network(text) else {
                throw ServerConfigurationError(
                    "The proxy \(text) is neither an address nor a network such as 10.0.0.0/8.")
            }
            networks.append(network)
        }
        self.proxies = networks
    }

    /// Trusts no proxy.
    public init() { proxies = [] }

    /// The client's address as it is, for the log.
    func name(of request: HTTPRequest, _ connection: ClientConnection) -> String {
        let peer = connection.address ?? "unknown"
        return nearest(peer: peer, forwardedFor: request.headerFields[.forwardedFor])?.text ?? peer
    }

    /// The client as limits count it.
    func address(of request: HTTPRequest, _ connection: ClientConnection) -> String {
        address(peer: connection.address ?? "unknown", forwardedFor: request.headerFields[.forwardedFor])
    }

    /// Goes through the list from its end, where the nearest proxy has written, to the first address that isn't a proxy's.
    /// What is before that may be a lie. Clients of one IPv6 network of 64 bits are one, since each has all its addresses.
    func address(peer: String, forwardedFor: String?) -> String {
        nearest(peer: peer, forwardedFor: forwardedFor)?.client ?? peer
    }

    private func nearest(peer: String, forwardedFor: String?) -> NetworkAddress? {
        guard let last = NetworkAddress(peer) else { return nil }
        guard isProxy(last), let forwardedFor else { return last }
        var nearest = last
        for hop in forwardedFor.split(separator: ",").reversed() {
            // What isn't an address was not written by a proxy that is to be trusted.
            guard let address = NetworkAddress(withPort: hop.filter { !$0.isWhitespace }) else { break }
            nearest = address
            if !isProxy(address) { break }
        }
        return nearest
    }

    private func isProxy(_ address: NetworkAddress) -> Bool { proxies.contains { $0.contains(address) } }
}

/// An IPv4 or IPv6 address. IPv4 addresses inside IPv6 ones are the IPv4 addresses (RFC 4291 section 2.5.5.2).
struct NetworkAddress {
    let text: String
    fileprivate let bytes: [UInt8]

    init?(_ text: some StringProtocol) {
        let text = String(text)
        self.text = text
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            guard inet_pton(family, text, &bytes) == 1 else { continue }
            let isMapped = count == 16 && bytes.starts(with: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF])
            self.bytes = isMapped ? Array(bytes[12...]) : bytes
            return
        }
        return nil
    }

    /// Reads an address that may have a port: `1.2.3.4:80`, `[::1]:80`, `[::1]`.
    init?(withPort text: String) {
        if text.hasPrefix("[") {
            self.init(text.dropFirst().prefix { $0 != "]" })
        } else if text.count(where: { $0 == ":" }) == 1 {
            self.init(text.prefix { $0 != ":" })
        } else {
            self.init(text)
        }
    }

    /// The client as limits count it.
    var client: String { (bytes.count == 4 ? bytes[...] : bytes[..<8]).map { String($0) }.joined(separator: ".") }
}

/// The addresses that begin with the same bits (RFC 4632).
private struct Network {
    private let start: NetworkAddress
    private let bits: Int

    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let start = NetworkAddress(parts[0]) else { return nil }
        let most = start.bytes.count * 8
        guard let bits = parts.count == 2 ? parts[1].plainNumber : most, bits <= most else { return nil }
        (self.start, self.bits) = (start, bits)
    }

    func contains(_ address: NetworkAddress) -> Bool {
        guard address.bytes.count == start.bytes.count else { return false }
        return start.bytes.indices.allSatisfy { index in
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> max(0, min(8, bits - index * 8)))
            return (start.bytes[index] ^ address.bytes[index]) & mask == 0
        }
    }
}

extension HTTPField.Name {
    fileprivate static let forwardedFor = name("X-Forwarded-For")
}

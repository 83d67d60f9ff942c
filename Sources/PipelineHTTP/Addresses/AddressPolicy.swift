import Pipeline

/// The addresses that may be connected to. Every connection is checked when it is opened and again when it is reused,
/// for every redirect.
///
/// A URL from a stranger can name a server in your own network, such as `http://169.254.169.254/` in a cloud, and a
/// name can resolve to such an address at any time. So the policy checks the address, not the URL. The library's
/// default is ``publicOnly``.
///
/// ```swift
/// let loader = try ImageLoader(addresses: .publicOnly(allowing: ["images.internal.example", "10.20.0.0/16"]))
/// ```
///
/// Behind a proxy, only the proxy's address is checked; the proxy has to check what it connects to.
public struct AddressPolicy: Sendable, Hashable {
    private let allowsAll: Bool
    private let networks: [AddressNetwork]
    private let hosts: Set<String>

    private init(allowsAll: Bool, networks: [AddressNetwork] = [], hosts: Set<String> = []) {
        self.allowsAll = allowsAll
        self.networks = networks
        self.hosts = hosts
    }

    /// Every address; for programs that act for their own user, as `curl` does.
    public static let any = AddressPolicy(allowsAll: true)

    /// Public addresses alone: no loopback, link-local, private, unique-local, carrier-grade NAT, multicast,
    /// unspecified, broadcast or documentation address, nor IPv4 hidden in IPv6 (mapped, compatible, 6to4, NAT64,
    /// Teredo, ISATAP).
    public static let publicOnly = AddressPolicy(allowsAll: false)

    /// Public addresses, and these hosts and networks.
    /// - Parameter entries: addresses such as `127.0.0.1`, networks such as `10.0.0.0/8` or `fd00::/8`, and host
    ///   names such as `images.internal.example`, which may resolve to anything.
    /// - Throws: `LoadError` with the code `refused` if an entry is none of these.
    public static func publicOnly(allowing entries: [String]) throws -> AddressPolicy {
        var networks: [AddressNetwork] = []
        var hosts: Set<String> = []
        for entry in entries {
            if let network = AddressNetwork(entry) {
                networks.append(network)
            } else if !entry.isEmpty && entry.utf8.allSatisfy(isOfName) {
                hosts.insert(Self.normalized(entry))
            } else {
                throw LoadError(
                    .refused, subject: entry,
                    "This is not a host name, address or network; write it like example.com, 10.1.2.3 or 10.0.0.0/8.")
            }
        }
        return AddressPolicy(allowsAll: false, networks: networks, hosts: hosts)
    }

    /// Why the address of a URL's host must not be connected to; `nil` if it may.
    func refusal(of address: Address, host: String) -> String? {
        guard !allowsAll, let kind = AddressRange.kind(of: address) else { return nil }
        if networks.contains(where: { $0.contains(address) }) || hosts.contains(Self.normalized(host)) { return nil }
        let article = kind.first.map { "aeiouAEIOU".contains($0) } == true && !kind.hasPrefix("uni") ? "an" : "a"
        return "\(host) leads to \(address), \(article) \(kind) address, and only public ones are allowed. "
            + "If you mean it, allow the host or network: ImageLoader(addresses: .publicOnly(allowing: [\"\(address)\"])), "
            + "or CurlClient.Options(addresses:) for a client of your own."
    }

    private static func normalized(_ host: String) -> String {
        let host = host.lowercased()
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

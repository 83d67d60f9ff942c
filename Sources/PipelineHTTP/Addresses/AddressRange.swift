/// The ranges of addresses that no public server has (IANA's registries of special-purpose addresses, RFC 6890).
struct AddressRange: Sendable {
    /// The kind of address, as in "127.0.0.1 is a … address".
    let kind: String
    private let networks: [AddressNetwork]

    private init(_ kind: String, _ networks: String...) {
        self.kind = kind
        self.networks = networks.compactMap { AddressNetwork($0) }
    }

    /// The kind of an address that isn't public; `nil` if it is.
    static func kind(of address: Address) -> String? {
        if let range = special.first(where: { $0.networks.contains { $0.contains(address) } }) { return range.kind }
        guard address.bytes.count == 16 else { return nil }
        // ISATAP puts the IPv4 address after this mark, in any network (RFC 5214 section 6.1).
        if address.bytes[8] & 0xfc == 0 && address.bytes[9...11] == [0x00, 0x5e, 0xfe] {
            return "ISATAP (hidden IPv4)"
        }
        // Only 2000::/3 is allocated to public networks (RFC 4291 section 2.4 and IANA's registry).
        return address.bytes[0] >> 5 == 1 ? nil : "reserved"
    }

    /// Whether an address can be a public server's.
    static func isPublic(_ address: Address) -> Bool { kind(of: address) == nil }

    private static let special = [
        AddressRange("unspecified", "0.0.0.0/8", "::/128"),
        AddressRange("loopback", "127.0.0.0/8", "::1/128"),
        AddressRange("private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fec0::/10"),
        AddressRange("carrier-grade NAT", "100.64.0.0/10"),
        AddressRange("link-local", "169.254.0.0/16", "fe80::/10"),
        AddressRange("unique-local", "fc00::/7"),
        AddressRange("protocol-assigned", "192.0.0.0/24"),
        AddressRange(
            "documentation", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"),
        AddressRange("benchmarking", "198.18.0.0/15", "2001:2::/48"),
        AddressRange("multicast", "224.0.0.0/4", "ff00::/8"),
        AddressRange("broadcast", "255.255.255.255/32"),
        AddressRange("reserved", "240.0.0.0/4", "192.88.99.0/24", "100::/64"),
        AddressRange("IPv4-mapped", "::ffff:0:0/96", "::ffff:0:0:0/96"),
        AddressRange("IPv4-compatible", "::/96"),
        AddressRange("NAT64 (hidden IPv4)", "64:ff9b::/96", "64:ff9b:1::/48"),
        AddressRange("6to4 (hidden IPv4)", "2002::/16"),
        AddressRange("Teredo (hidden IPv4)", "2001::/32"),
        AddressRange("protocol-assigned", "2001::/23"),
    ]
}

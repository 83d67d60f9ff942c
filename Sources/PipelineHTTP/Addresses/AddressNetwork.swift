/// A network: the addresses that share a prefix (RFC 4632 section 3.1, RFC 4291 section 2.3).
struct AddressNetwork: Sendable, Hashable {
    let address: Address
    /// The number of leading bits that the addresses share.
    let prefix: Int

    /// Reads `10.0.0.0/8`, `fd00::/8`, or a single address.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = Address(parts[0]) else { return nil }
        self.address = address
        guard parts.count == 2 else {
            prefix = address.bytes.count * 8
            return
        }
        guard parts[1].allSatisfy(\.isNumber), let prefix = Int(parts[1]), prefix <= address.bytes.count * 8 else {
            return nil
        }
        self.prefix = prefix
    }

    func contains(_ other: Address) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        let whole = prefix / 8
        guard other.bytes[..<whole] == address.bytes[..<whole] else { return false }
        let bits = prefix % 8
        return bits == 0 || (other.bytes[whole] ^ address.bytes[whole]) >> (8 - bits) == 0
    }
}

import LibC

/// An IPv4 or IPv6 address: 4 or 16 bytes in network byte order.
struct Address: Sendable, Hashable {
    let bytes: [UInt8]

    /// Takes 4 or 16 bytes; `nil` for any other number.
    init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// Reads the one strict spelling of IPv4 (four decimal numbers) and the spellings of RFC 4291 for IPv6.
    init?(_ text: some StringProtocol) {
        let text = String(text)
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.bytes = Array(bytes.prefix(4))
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.bytes = bytes
        } else {
            return nil
        }
    }

    /// Reads a `sockaddr_in` or `sockaddr_in6`.
    init?(socketAddress: UnsafeRawBufferPointer, family: Int32) {
        switch family {
        case AF_INET: self.init(bytes: socketAddress.dropFirst(4).prefix(4))
        case AF_INET6: self.init(bytes: socketAddress.dropFirst(8).prefix(16))
        default: return nil
        }
    }
}

extension Address: CustomStringConvertible {
    /// The usual spelling.
    var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else {
            return "?"
        }
        return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "?" }
    }
}

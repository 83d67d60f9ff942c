import LibC
import Pipeline

/// Looks up the addresses of a host on a thread of its own: a name server that doesn't reply must not keep requests
/// from failing at their deadlines.
final class RedisResolver: Sendable {
    private let found = Lock<[String]?>(nil)

    /// Begins a lookup.
    /// - Parameter wake: Called on another thread once it has ended.
    init(_ host: String, wake: @escaping @Sendable () -> Void) throws(RedisFailure) {
        do {
            try Thread.start(name: "redis-resolver") { [found] in
                let addresses = Self.addresses(of: host)
                found.withLock { $0 = addresses }
                wake()
            }
        } catch {
            throw .unreachable("the system refuses another thread")
        }
    }

    /// The addresses, those of IPv4 first; empty if there are none, `nil` before the lookup has ended.
    var addresses: [String]? { found.withLock(\.self) }

    /// Whether a host is an address itself.
    static func isAddress(_ host: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    }

    private static func addresses(of host: String) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Socket.stream
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [(isOld: Bool, text: String)] = []
        var next = list
        while let info = next?.pointee {
            next = info.ai_next
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            guard
                getnameinfo(
                    info.ai_addr, info.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            else { continue }
            let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            found.append((info.ai_family == AF_INET, String(decoding: bytes, as: UTF8.self)))
        }
        return found.filter(\.isOld).map(\.text) + found.filter { !$0.isOld }.map(\.text)
    }
}

import LibC
import Pipeline

/// Where a server is found now.
struct RedisTarget: Sendable {
    /// Its host's name or address.
    let host: String
    /// The addresses of the host with its port, those of IPv4 first; never empty.
    let endpoints: [RedisAddress.Endpoint]

    /// Looks up the addresses of a host. It blocks.
    init(of endpoint: RedisAddress.Endpoint) throws(RedisFailure) {
        host = endpoint.host
        guard case .host(let host, let port) = endpoint, !RedisResolver.isAddress(host) else {
            endpoints = [endpoint]
            return
        }
        endpoints = RedisResolver.addresses(of: host).map { .host($0, port: port) }
        if endpoints.isEmpty { throw .unreachable("its host's address can't be found") }
    }
}

/// Finds a server on a thread of its own: a name server or a sentinel that doesn't reply must not keep requests from
/// failing at their deadlines.
final class RedisResolver: Sendable {
    private let result = Lock<Result<RedisTarget, RedisFailure>?>(nil)

    /// Begins a lookup.
    /// - Parameters:
    ///   - find: Looks for the server; it may block.
    ///   - wake: Called on another thread once the lookup has ended.
    init(
        _ find: @escaping @Sendable () throws(RedisFailure) -> RedisTarget, wake: @escaping @Sendable () -> Void
    ) throws(RedisFailure) {
        do {
            try Thread.start(name: "redis-resolver") { [result] in
                // A sentinel's connection that breaks must not end the program.
                Thread.blockBrokenPipes()
                let found = Result(catching: find)
                result.withLock { $0 = found }
                wake()
            }
        } catch {
            throw .unreachable("the system refuses another thread")
        }
    }

    /// What was found; `nil` before the lookup has ended.
    /// - Throws: ``RedisFailure`` if the server wasn't found.
    var target: RedisTarget? {
        get throws(RedisFailure) { try result.withLock(\.self)?.get() }
    }

    /// Whether a host is an address itself.
    static func isAddress(_ host: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    }

    fileprivate static func addresses(of host: String) -> [String] {
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

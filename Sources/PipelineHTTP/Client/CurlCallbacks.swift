import CCurl
import Glibc

/// What libcurl calls while it performs transfers, always on its own thread, with the ``CurlRun`` that it is about.
enum CurlCallbacks {
    static let header: curl_write_callback = { data, size, count, context in
        run(context)?.takeHeader(bytes(data, size * count)) == true ? size * count : stop
    }

    static let body: curl_write_callback = { data, size, count, context in
        switch run(context)?.takeBody(bytes(data, size * count)) {
        case .taken: size * count
        case .later: Int(CURL_WRITEFUNC_PAUSE)
        case .unwanted, nil: stop
        }
    }

    /// Opens the socket of a connection, unless its address is not allowed.
    static let socket: curl_opensocket_callback = { context, _, address in
        guard let address, let run = run(context) else { return CURL_SOCKET_BAD }
        let family = address.pointee.family
        // The struct ends in a `sockaddr`, behind which longer addresses go on.
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0
        let bytes = UnsafeRawBufferPointer(
            start: UnsafeRawPointer(address).advanced(by: offset), count: Int(address.pointee.addrlen))
        guard run.mayConnect(to: Address(socketAddress: bytes, family: family)) else { return CURL_SOCKET_BAD }
        return Glibc.socket(family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
    }

    /// Looks once more at the address before a request goes out: its connection may have been opened for another one.
    static let request: curl_prereq_callback = { context, remote, _, _, _ in
        guard let run = run(context), let remote else { return CURL_PREREQFUNC_ABORT }
        return run.mayAsk(Address(String(cString: remote))) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    /// What tells libcurl to give up: another number than that of the bytes it offered.
    private static let stop = 0xFFFF_FFFF

    private static func run(_ context: UnsafeMutableRawPointer?) -> CurlRun? {
        context.map { Unmanaged<CurlRun>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func bytes(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: UnsafeRawPointer(data)?.assumingMemoryBound(to: UInt8.self), count: count)
    }
}

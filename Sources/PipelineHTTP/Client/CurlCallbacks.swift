import CCurl
import LibC

/// The functions that libcurl calls while it performs transfers, always on its thread. Their context is the
/// ``CurlRun``.
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
        // The struct ends in a `sockaddr`, and longer addresses extend beyond it.
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0
        let bytes = UnsafeRawBufferPointer(
            start: UnsafeRawPointer(address).advanced(by: offset), count: Int(address.pointee.addrlen))
        guard run.mayConnect(to: Address(socketAddress: bytes, family: family)) else { return CURL_SOCKET_BAD }
        let socket = Socket.open(family, address.pointee.socktype, address.pointee.protocol)
        run.opened(socket)
        return socket
    }

    /// Checks the connection again before a request is sent: it may have been opened for another one.
    static let request: curl_prereq_callback = { context, remote, local, remotePort, localPort in
        guard let run = run(context), let remote, let local else { return CURL_PREREQFUNC_ABORT }
        let ends = CurlConnections.Ends(
            local: String(cString: local), localPort: localPort, remote: String(cString: remote),
            remotePort: remotePort)
        return run.mayAsk(Address(ends.remote)) && run.maySend(on: ends) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    /// Learns that libcurl 7.88 drops bytes behind a response's end that it has read together with the end. It keeps the
    /// connection, where more of them may follow, and tells nobody but by this text. Later versions close it.
    static let information: curl_debug_callback = { _, kind, data, size, context in
        guard kind == CURLINFO_TEXT else { return 0 }
        let text = bytes(data, size)
        if text.starts(with: "Excess found".utf8) || text.starts(with: "Leftovers after chunking".utf8) {
            run(context)?.leavesBytes()
        }
        return 0
    }

    /// Tells libcurl to give up: any number other than that of the bytes it offered.
    private static let stop = 0xFFFF_FFFF

    private static func run(_ context: UnsafeMutableRawPointer?) -> CurlRun? {
        context.map { Unmanaged<CurlRun>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func bytes(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: UnsafeRawPointer(data)?.assumingMemoryBound(to: UInt8.self), count: count)
    }
}

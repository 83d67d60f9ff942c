/// Sockets, whose constants and flags differ between C libraries.
package enum Socket {
    #if canImport(Glibc)
    /// The kind of a connection that carries bytes.
    package static let stream = Int32(SOCK_STREAM.rawValue)
    /// The kind of a connection that keeps messages apart.
    package static let messages = Int32(SOCK_SEQPACKET.rawValue)
    #else
    /// The kind of a connection that carries bytes.
    package static let stream = SOCK_STREAM
    /// The kind of a connection that keeps messages apart.
    package static let messages = SOCK_SEQPACKET
    #endif

    #if canImport(Darwin)
    /// The flags for sending without SIGPIPE: none, since sockets from here have an option for that.
    package static let withoutSignal: Int32 = 0
    #else
    /// The flags for sending without SIGPIPE.
    package static let withoutSignal = Int32(MSG_NOSIGNAL)
    #endif

    /// Opens a socket that other programs don't inherit. Returns -1, with the reason in `errno`, if that fails.
    ///
    /// Elsewhere than on Linux this takes two calls, and a program that another thread starts between them inherits it.
    package static func open(_ family: Int32, _ kind: Int32 = stream, _ protocol: Int32 = 0) -> Int32 {
        #if LINUX && canImport(Glibc)
        socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), `protocol`)
        #elseif LINUX
        socket(family, kind | SOCK_CLOEXEC, `protocol`)
        #else
        kept(socket(family, kind, `protocol`))
        #endif
    }

    /// Accepts a connection that other programs don't inherit. Returns -1, with the reason in `errno`, if that fails.
    package static func accept(_ listener: Int32) -> Int32 { kept(LibC.accept(listener, nil, nil)) }

    /// Keeps a new socket from other programs, and from raising SIGPIPE.
    private static func kept(_ socket: Int32) -> Int32 {
        guard socket >= 0 else { return socket }
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
        var yes: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return socket
    }
}

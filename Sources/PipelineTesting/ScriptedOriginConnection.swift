import LibC
import HTTPTypes

#if canImport(Darwin)
/// A hang-up, which macOS reports once the client sends no more.
private let clientLeft = POLLHUP
#else
/// Linux's `POLLRDHUP`, which Swift does not import.
private let clientLeft: Int32 = 0x2000
#endif

/// One connection to an origin, served by a thread of its own: request, reply, request, reply.
struct ScriptedOriginConnection {
    private let socket: Int32
    private let number: Int
    private let core: ScriptedOriginCore
    private var received: [UInt8] = []

    private struct Ended: Error {}

    init(socket: Int32, number: Int, core: ScriptedOriginCore) {
        self.socket = socket
        self.number = number
        self.core = core
    }

    consuming func serve() {
        defer {
            // A child process that was started in an unlucky moment may hold the socket open.
            shutdown(socket, Int32(SHUT_RDWR))
            close(socket)
            core.note { $0.closedConnections += 1 }
        }
        do {
            while let request = try readRequest() {
                let reply = core.answer(request)
                do {
                    try send(reply, withContent: request.method != "HEAD")
                } catch {
                    core.note { $0.abandoned += 1 }
                    return
                }
                if reply.closes { return }
            }
        } catch {}
    }

    /// The next request, or `nil` if the bytes are none.
    private mutating func readRequest() throws -> ScriptedOrigin.Request? {
        var searched = 0
        while true {
            if let end = endOfHead(from: searched) {
                guard var request = ScriptedOrigin.Request(head: received[..<end], connection: number) else {
                    return nil
                }
                received.removeSubrange(..<end)
                request.body = try readContent(of: request)
                return request
            }
            searched = max(0, received.count - 3)
            try receive()
        }
    }

    /// The end of the head that the received bytes begin with, including its empty line.
    private func endOfHead(from start: Int) -> Int? {
        received.withUnsafeBytes { bytes in
            var index = start
            while index + 4 <= bytes.count {
                if bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self) == UInt32(bigEndian: 0x0d0a_0d0a) {
                    return index + 4
                }
                index += 1
            }
            return nil
        }
    }

    private mutating func readContent(of request: ScriptedOrigin.Request) throws -> [UInt8] {
        guard let length = request.headers[.contentLength].flatMap(Int.init), length > 0 else { return [] }
        if request.headers[.expect] == "100-continue" { try send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)[...]) }
        while received.count < length { try receive() }
        let content = Array(received[..<length])
        received.removeSubrange(..<length)
        return content
    }

    private mutating func receive() throws {
        guard core.stopped.wait(on: socket, for: POLLIN) != 0 else { throw Ended() }
        let count = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
            let count = recv(socket, buffer.baseAddress, buffer.count, 0)
            if count > 0 { received.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
            return count
        }
        guard count > 0 else { throw Ended() }
    }

    private func send(_ reply: ScriptedOrigin.Reply, withContent: Bool) throws {
        var interruptions = reply.interruptions[...]
        while let next = interruptions.first, next.after < 0 {
            interruptions.removeFirst()
            guard try goesOn(after: next.1) else { return }
        }
        try send(reply.head[...])
        guard withContent else { return }
        var sent = 0
        repeat {
            let start = sent
            while sent < start + reply.content.count || interruptions.first?.after == sent {
                if let next = interruptions.first, next.after <= sent {
                    interruptions.removeFirst()
                    guard try goesOn(after: next.1) else { return }
                    continue
                }
                let end = min(start + reply.content.count, interruptions.first?.after ?? Int.max)
                try send(reply.content[(sent - start)..<(end - start)])
                sent = end
            }
        } while reply.repeats && !reply.content.isEmpty
    }

    /// Performs an interruption of a reply; false if the reply ends with it.
    private func goesOn(after interruption: ScriptedOrigin.Reply.Interruption) throws -> Bool {
        switch interruption {
        case .hold(let gate):
            // The gate is asked first: a client may leave while it is open.
            let events = core.stopped.wait(on: socket, for: clientLeft, or: gate.signal)
            if events != 0 || core.isStopped { throw Ended() }
            return true
        case .stall:
            _ = core.stopped.wait(on: socket, for: clientLeft)
            throw Ended()
        case .cut:
            shutdown(socket, Int32(SHUT_RDWR))
            return false
        }
    }

    private func send(_ bytes: ArraySlice<UInt8>) throws {
        var rest = bytes
        while !rest.isEmpty {
            // In one step, so that a client that has received bytes finds them in the log.
            let (count, number) = core.note { [socket, rest] log in
                let count = rest.withUnsafeBytes {
                    LibC.send(socket, $0.baseAddress, $0.count, Socket.withoutSignal | Int32(MSG_DONTWAIT))
                }
                defer { log.bytesSent += max(0, count) }
                return (count, errno)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else {
                guard number == EAGAIN || number == EINTR else { throw Ended() }
                guard core.stopped.wait(on: socket, for: POLLOUT) != 0 else { throw Ended() }
            }
        }
    }
}

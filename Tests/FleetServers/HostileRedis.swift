import LibC
import Pipeline
package import PipelineShared

/// A program that speaks Redis's protocol and replies as a test wants, over TCP. It ends with the test.
package final class HostileRedis: Sendable {
    /// A command as the client sent it.
    package struct Command: Sendable {
        /// The words. The first is in upper case.
        package let words: [String]
        /// The source of the script that the command runs; `nil` for any other command.
        package let script: String?

        fileprivate init(_ words: [String], _ scripts: [String]) {
            self.words = words
            script =
                switch words[0] {
                case "EVALSHA": Int(words[1]).map { scripts[$0] }
                case "EVAL": words[1]
                default: nil
                }
        }
    }

    /// What the server does about a command.
    package enum Reaction: Sendable {
        /// Sends these bytes.
        case bytes([UInt8])
        /// Sends these bytes and closes the connection.
        case last([UInt8])

        /// Sends a text, as bytes.
        package static func text(_ text: String) -> Reaction { .bytes(Array(text.utf8)) }
    }

    private struct State {
        var isOver = false
        var connections: [Int32] = []
        var scripts: [String] = []
        var commands: [Command] = []
    }

    /// What the threads share with the server, which they don't keep alive.
    private final class Core: Sendable {
        let state = Lock(State())
        let react: @Sendable (Command) -> Reaction?

        init(_ react: @escaping @Sendable (Command) -> Reaction?) { self.react = react }
    }

    private let core: Core
    private let listener: Int32
    /// The server's address.
    package let address: RedisAddress

    /// The commands so far.
    package var commands: [Command] { core.state.withLock(\.commands) }

    /// Starts the server.
    /// - Parameter react: Returns what to do about a command; `nil` for what a good server does while a client signs in,
    ///   loads scripts and subscribes, and a null reply to anything else. The commands of a transaction come when it is
    ///   executed.
    package init(_ react: @escaping @Sendable (Command) -> Reaction?) throws {
        let port = try freePort()
        let listener = Socket.open(AF_INET)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let isBound = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(listener, 64) == 0
            }
        }
        guard isBound else { throw RedisServer.Failure(said: "no port is free") }
        self.address = RedisAddress(.host("127.0.0.1", port: port))
        self.listener = listener
        let core = Core(react)
        self.core = core
        try Thread.start(name: "hostile-redis") {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                let isOver = core.state.withLock { state in
                    state.connections.append(connection)
                    return state.isOver
                }
                guard !isOver, (try? Thread.start(name: "hostile-reply", { Self.serve(connection, core) })) != nil
                else {
                    close(connection)
                    continue
                }
            }
            close(listener)
        }
    }

    deinit {
        closeConnections(isOver: true)
        // The thread that accepts closes it.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Ends all connections. Clients may connect again.
    package func closeConnections() { closeConnections(isOver: false) }

    private func closeConnections(isOver: Bool) {
        core.state.withLock { state in
            state.isOver = isOver
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    private static func serve(_ connection: Int32, _ core: Core) {
        defer {
            core.state.withLock { state in state.connections.removeAll { $0 == connection } }
            close(connection)
        }
        var input = CommandReader(connection)
        var transaction: [[String]]?
        while let words = input.next() {
            var isLast = false
            var reply: [UInt8] = []
            switch (words[0], transaction) {
            case ("MULTI", _):
                transaction = []
                reply = Array("+OK\r\n".utf8)
            case ("EXEC", let commands?):
                transaction = nil
                reply = Array("*\(commands.count)\r\n".utf8)
                for words in commands { Self.run(words, core, &reply, &isLast) }
            case (_, .some):
                transaction?.append(words)
                reply = Array("+QUEUED\r\n".utf8)
            case (_, nil): Self.run(words, core, &reply, &isLast)
            }
            let isSent = reply.withUnsafeBytes { bytes in
                var sent = 0
                while sent < bytes.count {
                    let count = send(
                        connection, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Socket.withoutSignal)
                    guard count > 0 else { return false }
                    sent += count
                }
                return true
            }
            guard isSent, !isLast else { return }
        }
    }

    private static func run(_ words: [String], _ core: Core, _ reply: inout [UInt8], _ isLast: inout Bool) {
        let command = core.state.withLock { state in
            let command = Command(words, state.scripts)
            state.commands.append(command)
            return command
        }
        switch core.react(command) {
        case .bytes(let bytes): reply += bytes
        case .last(let bytes):
            reply += bytes
            isLast = true
        case nil: reply += Array(usual(words, core).utf8)
        }
    }

    private static func usual(_ words: [String], _ core: Core) -> String {
        switch words[0] {
        case "PING": return "+PONG\r\n"
        case "AUTH", "SELECT": return "+OK\r\n"
        case "SCRIPT":
            let number = core.state.withLock { state in
                state.scripts.append(words[2])
                return "\(state.scripts.count - 1)"
            }
            return "$\(number.utf8.count)\r\n\(number)\r\n"
        case "SUBSCRIBE":
            return words.dropFirst().map {
                "*3\r\n$9\r\nsubscribe\r\n$\($0.utf8.count)\r\n\($0)\r\n:1\r\n"
            }.joined()
        default: return "$-1\r\n"
        }
    }
}

/// Reads the commands of a client, which are arrays of texts.
private struct CommandReader {
    private let connection: Int32
    private var bytes: [UInt8] = []
    private var start = 0

    init(_ connection: Int32) { self.connection = connection }

    mutating func next() -> [String]? {
        bytes.removeFirst(start)
        start = 0
        guard let count = number(after: UInt8(ascii: "*")), count > 0 else { return nil }
        var words: [String] = []
        for _ in 0..<count {
            guard let length = number(after: UInt8(ascii: "$")), let word = take(length), take(2) != nil else {
                return nil
            }
            words.append(String(decoding: word, as: UTF8.self))
        }
        words[0] = words[0].uppercased()
        return words
    }

    private mutating func number(after mark: UInt8) -> Int? {
        var line: [UInt8] = []
        while let byte = take(1)?.first {
            if byte == UInt8(ascii: "\n") { break }
            line.append(byte)
        }
        guard line.first == mark else { return nil }
        return Int(String(decoding: line.dropFirst().dropLast(), as: UTF8.self))
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        while bytes.count - start < count {
            var part = [UInt8](repeating: 0, count: 65_536)
            let length = read(connection, &part, part.count)
            guard length > 0 else { return nil }
            bytes += part.prefix(length)
        }
        defer { start += count }
        return Array(bytes[start..<start + count])
    }
}

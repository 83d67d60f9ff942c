package import Foundation
package import PipelineShared
import Synchronization

/// A Redis server on a Unix socket in a temporary folder, which ends with the test.
package final class RedisServer: Sendable {
    /// Debian's redis-tools has the program, which goes by the name under which it is called. Unlike the package
    /// redis-server, it starts no service.
    private static let program = "/usr/bin/redis-check-rdb"
    package static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

    package let folder: String
    private let process: Mutex<Process?>
    private let command: [String]
    private let ready: String
    private let namespace: NetworkNamespace?

    /// Starts a server.
    /// - Parameters:
    ///   - options: Further options, such as `--requirepass secret`.
    ///   - namespace: Where it also listens on TCP; `nil`, the default, for the socket alone.
    package convenience init(_ options: String..., in namespace: NetworkNamespace? = nil) throws {
        try self.init(options: options, in: namespace)
    }

    /// Starts a server with a list of options.
    package init(options: [String], in namespace: NetworkNamespace? = nil) throws {
        folder = try Self.makeFolder(for: "redis-server")
        command =
            (namespace.map { ["/usr/sbin/ip", "netns", "exec", $0.name] } ?? [])
            + [folder + "/redis-server", "--port", "0", "--unixsocket", folder + "/redis.sock"]
            + ["--save", "", "--appendonly", "no", "--dir", folder] + options
            + (namespace.map { ["--bind", $0.address, "--port", "6379", "--protected-mode", "no"] } ?? [])
        ready = "ready to accept connections"
        self.namespace = namespace
        process = Mutex(nil)
        try start()
    }

    /// Starts a sentinel with the lines of its configuration.
    package init(sentinel settings: [String]) throws {
        folder = try Self.makeFolder(for: "redis-sentinel")
        command = [folder + "/redis-sentinel", folder + "/sentinel.conf"]
        let lines = settings + ["dir \(folder)", "unixsocket \(folder)/redis.sock"]
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: folder + "/sentinel.conf"))
        (ready, namespace) = ("Sentinel ID is", nil)
        process = Mutex(nil)
        try start()
    }

    private static func makeFolder(for name: String) throws -> String {
        let folder = NSTemporaryDirectory() + "pipeline-redis-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: program)
        return folder
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Returns a script that asks the key `time` for the server's time, which a test sets by ``setTime(_:)``.
    package static let withClockOfKey: @Sendable (String) -> String = {
        $0.replacing("redis.call('TIME')", with: "redis.call('HMGET', 'time', 'seconds', 'microseconds')")
    }

    package var socket: String { folder + "/redis.sock" }
    package var address: RedisAddress {
        RedisAddress(namespace.map { .host($0.address, port: 6379) } ?? .socket(path: socket))
    }

    /// Starts the server, empty, and returns once it accepts connections.
    package func start() throws {
        let process = Process()
        process.executableURL = URL(filePath: command[0])
        process.currentDirectoryURL = URL(filePath: folder)
        process.arguments = Array(command.dropFirst())
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process.withLock { $0 = process }
        var said = Data()
        while true {
            let more = output.fileHandleForReading.availableData
            said += more
            if more.isEmpty { throw Failure(said: String(decoding: said, as: UTF8.self)) }
            if said.range(of: Data(ready.utf8)) != nil { break }
        }
        // What it says later must not block it.
        output.fileHandleForReading.dropEverything()
    }

    /// Ends the server at once; what it held is gone.
    package func kill() {
        guard let process = process.withLock({ $0 }), process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Sets the time that scripts see which were changed by ``withClockOfKey``.
    package func setTime(_ date: Date) throws {
        let time = date.timeIntervalSince1970
        try send("HSET time seconds \(Int(time)) microseconds \(Int((time - time.rounded(.down)) * 1_000_000))")
    }

    /// Stops the server, or lets it continue.
    package func setStopped(_ isStopped: Bool) {
        guard let process = process.withLock({ $0 }) else { return }
        Foundation.kill(process.processIdentifier, isStopped ? SIGSTOP : SIGCONT)
    }

    /// Sends a command over a connection of its own, and returns the first lines of the reply.
    @discardableResult
    package func send(_ command: String, lines: Int = 1) throws -> String {
        let descriptor = try UnixSocket.open(at: socket, connect)
        defer { close(descriptor) }
        let line = Array((command + "\r\n").utf8)
        guard write(descriptor, line, line.count) == line.count else { throw Failure(said: "\(command) can't be sent") }
        var (reply, byte, left) = ([UInt8](), UInt8(0), lines)
        while left > 0, read(descriptor, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { left -= 1 }
            if byte != UInt8(ascii: "\r") { reply.append(byte) }
        }
        let said = String(decoding: reply, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !said.isEmpty, !said.hasPrefix("-") else { throw Failure(said: "\(command): \(said)") }
        return said
    }

    package struct Failure: Error { package let said: String }
}

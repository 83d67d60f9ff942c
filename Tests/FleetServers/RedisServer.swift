import Foundation
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
    private let options: [String]

    /// Starts a server.
    /// - Parameter options: Further options, such as `--requirepass secret`.
    package init(_ options: String...) throws {
        folder = NSTemporaryDirectory() + "pipeline-redis-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/redis-server", withDestinationPath: Self.program)
        self.options = options
        process = Mutex(nil)
        try start()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(atPath: folder)
    }

    package var socket: String { folder + "/redis.sock" }
    package var address: RedisAddress { RedisAddress(.socket(path: socket)) }

    /// Starts the server, empty, and returns once it accepts connections.
    package func start() throws {
        let process = Process()
        process.executableURL = URL(filePath: folder + "/redis-server")
        process.currentDirectoryURL = URL(filePath: folder)
        process.arguments =
            ["--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", folder] + options
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
            if said.range(of: Data("ready to accept connections".utf8)) != nil { break }
        }
        // What it says later must not block it.
        output.fileHandleForReading.readabilityHandler = { handle in
            if handle.availableData.isEmpty { handle.readabilityHandler = nil }
        }
    }

    /// Ends the server at once; what it held is gone.
    package func kill() {
        guard let process = process.withLock({ $0 }), process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Stops the server, or lets it continue.
    package func setStopped(_ isStopped: Bool) {
        guard let process = process.withLock({ $0 }) else { return }
        Foundation.kill(process.processIdentifier, isStopped ? SIGSTOP : SIGCONT)
    }

    package struct Failure: Error { package let said: String }
}

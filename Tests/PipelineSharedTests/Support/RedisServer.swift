import Foundation
import Synchronization
import Testing

@testable import PipelineShared

/// A server on a Unix socket in a temporary folder, which ends with the test.
final class RedisServer: Sendable {
    /// Debian's redis-tools has the program, which goes by the name under which it is called. Unlike the package
    /// redis-server, it starts no service.
    private static let program = "/usr/bin/redis-check-rdb"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

    let folder: String
    private let process: Mutex<Process?>
    private let options: [String]

    /// Starts a server.
    /// - Parameter options: Further options, such as `--requirepass secret`.
    init(_ options: String...) throws {
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

    var socket: String { folder + "/redis.sock" }
    var address: RedisAddress { RedisAddress(.socket(path: socket)) }

    /// Starts the server, empty, and returns once it accepts connections.
    func start() throws {
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
    func kill() {
        guard let process = process.withLock({ $0 }), process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Stops the server, or lets it continue.
    func setStopped(_ isStopped: Bool) {
        guard let process = process.withLock({ $0 }) else { return }
        Foundation.kill(process.processIdentifier, isStopped ? SIGSTOP : SIGCONT)
    }

    /// Waits until leases of this many names are waited for.
    func listeners(_ count: Int) async throws {
        let connection = RedisConnection(address, limits: RedisLimits(request: .seconds(10)))
        while try await connection.send("PUBSUB", "CHANNELS", "*:d:*").array?.count != count {}
    }

    struct Failure: Error { let said: String }
}

extension Trait where Self == ConditionTrait {
    /// Skips the tests where Debian's redis-tools is missing.
    static var withRedis: Self { .enabled("redis-tools isn't installed") { RedisServer.isInstalled } }
}

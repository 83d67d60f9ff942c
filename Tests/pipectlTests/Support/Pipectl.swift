import Foundation
import Pipeline

/// Runs the built command as a shell would.
final class Pipectl: Sendable {
    struct Result {
        let status: Int32
        let output: [UInt8]
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
        var lines: [String] { text.split(separator: "\n").map(String.init) }

        /// The objects that `--json` printed.
        func objects() throws -> [[String: Any]] {
            try lines.compactMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        }
    }

    /// A folder of the test's own, which goes with this.
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "pipectl-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// The command lies next to the tests that were built with it.
    static var executable: URL {
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "pipectl")
    }

    /// Starts the command in the test's folder.
    func start(
        _ arguments: [String], executable: URL = Pipectl.executable, input: Pipe? = nil, output: Pipe, errors: Pipe,
        environment: [String: String] = [:]
    ) throws -> Process {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["XDG_CACHE_HOME": path("cache"), "XDG_STATE_HOME": path("state")]) { $1 }.merging(environment) { $1 }
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        // One at a time: started side by side, a program inherits the socket by which Foundation sees the end of another,
        // which then seems to run for as long as itself.
        try Self.starting.withLock { _ in try process.run() }
        return process
    }

    // Of a number: ThreadSanitizer takes the place of what has no size for the lock's own.
    private static let starting = Lock(0)

    /// Waits for a program to end, on a thread of its own.
    static func status(of process: Process) async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                process.waitUntilExit()
                continuation.resume(returning: process.terminationStatus)
            }
        }
    }

    /// Runs the command to its end.
    func run(_ arguments: String..., input: [UInt8]? = nil) async throws -> Result {
        try await run(arguments, [:], input: input)
    }

    /// Runs the command to its end, with these variables in its environment.
    func run(_ arguments: [String], _ environment: [String: String], input: [UInt8]? = nil) async throws -> Result {
        let (output, errors) = (Pipe(), Pipe())
        let stdin = input.map { _ in Pipe() }
        let process = try start(
            arguments, input: stdin, output: output, errors: errors, environment: environment)
        if let stdin, let input {
            let handle = stdin.fileHandleForWriting
            Thread.detachNewThread {
                try? handle.write(contentsOf: Data(input))
                try? handle.close()
            }
        }
        async let outputBytes = Self.bytes(of: output)
        async let errorBytes = Self.bytes(of: errors)
        let (written, told) = await (outputBytes, errorBytes)
        return Result(
            status: await Self.status(of: process), output: written, errors: String(decoding: told, as: UTF8.self))
    }

    /// Reads a pipe to its end, on a thread of its own: reading blocks.
    static func bytes(of pipe: Pipe) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            let handle = pipe.fileHandleForReading
            Thread.detachNewThread {
                continuation.resume(returning: [UInt8]((try? handle.readToEnd()) ?? Data()))
            }
        }
    }
}

import FleetServers
import Foundation

/// Runs a program that sees 3 MB of memory as the file system of a folder: nobody else sees it, and it goes with the
/// program.
package enum SmallFileSystem {
    /// Whether this user may have such a thing: some systems forbid it.
    package static let isPossible: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/unshare")
        process.arguments = arguments + ["mount -t tmpfs -o size=3m none /tmp"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Runs a program with the folder as its last argument.
    package static func run(
        _ program: String, _ arguments: String..., in folder: String
    ) async throws -> (status: Int32, said: String) {
        let script = "mount -t tmpfs -o size=3m none \"$0\" && exec \"$@\" \"$0\""
        return try await Process.run(
            URL(filePath: "/usr/bin/unshare"), Self.arguments + [script, folder, program] + arguments)
    }

    private static let arguments = ["--user", "--map-root-user", "--mount", "sh", "-c"]
}

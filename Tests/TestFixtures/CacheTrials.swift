import FleetServers
package import Foundation
import Testing

/// Runs the program of the trials that need processes of their own.
package enum CacheTrials {
    /// The program lies next to the tests that were built with it.
    package static var executable: URL {
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "CacheTrials")
    }

    /// Runs a trial to its end.
    package static func run(_ arguments: String...) async throws -> (status: Int32, said: String) {
        try await Process.run(executable, arguments)
    }
}

extension Process {
    /// Starts a program and waits for a line of it.
    package static func run(_ program: URL, _ arguments: [String], saying line: String) throws -> Process {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let said = output.fileHandleForReading.readData(ofLength: line.utf8.count)
        #expect(String(decoding: said, as: UTF8.self) == line)
        return process
    }
}

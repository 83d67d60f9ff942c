package import Foundation

extension Process {
    /// Runs a program to its end, on a thread of its own: waiting blocks.
    package static func run(_ executable: URL, _ arguments: [String]) async throws -> (status: Int32, said: String) {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let said = (try? output.fileHandleForReading.readToEnd()) ?? Data()
                process.waitUntilExit()
                continuation.resume(returning: (process.terminationStatus, String(decoding: said, as: UTF8.self)))
            }
        }
    }
}

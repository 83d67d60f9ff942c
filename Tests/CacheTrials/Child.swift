import Foundation
import LibC

/// Another process of this program.
struct Child {
    let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ arguments: [String]) throws {
        process.executableURL = URL(
            filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Where to wait for what the process writes.
    var descriptor: Int32 { output.fileHandleForReading.fileDescriptor }

    /// What the process has written, until it has written this many lines or has ended.
    func read(lines: Int = .max) -> String {
        var said = ""
        while said.utf8.count(where: { $0 == UInt8(ascii: "\n") }) < lines, let more = readMore() { said += more }
        return said
    }

    /// What the process has written since, which is waited for; `nil` once it has ended.
    func readMore() -> String? {
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = LibC.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            return count > 0 ? String(decoding: chunk[..<count], as: UTF8.self) : nil
        }
    }

    /// Ends the process as a crash or the kernel would, without a chance to tidy up.
    func kill() {
        // Another process may have the number of one that has ended.
        if process.isRunning { LibC.kill(process.processIdentifier, SIGKILL) }
    }

    /// Passes a line to the process. It is lost if the process has ended.
    func say(_ line: String) { try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// Lets the process know that no line follows.
    func finish() { try? input.fileHandleForWriting.close() }

    /// Writes a line that a reader has whole once it has it at all.
    static func tell(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}

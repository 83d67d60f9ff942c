import Foundation
import LibC
import Pipeline
import Testing

/// A server whose every record of TLS a test writes: `openssl s_server`, which sends what it reads. It serves one
/// connection after the other.
final class TLSLine {
    let port: Int
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameter folder: where `server.pem` and `server.key` are.
    init(certificates folder: String) throws {
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = [
            "s_server", "-accept", "127.0.0.1:0", "-cert", "\(folder)/server.pem", "-key", "\(folder)/server.key",
        ]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let (process, output) = (process, output)
        try process.run()
        var text = ""
        while !text.contains("\n") || !text.contains("ACCEPT") {
            let bytes = output.fileHandleForReading.availableData
            try #require(!bytes.isEmpty)
            text += String(decoding: bytes, as: UTF8.self)
        }
        let line = text.split(separator: "\n").first { $0.contains("ACCEPT") }
        port = try #require(line?.split(separator: ":").last.flatMap { Int($0) })
    }

    // Foundation starts it with SIGTERM blocked.
    deinit { kill(process.processIdentifier, SIGKILL) }

    /// Returns once this text has come.
    func wait(for text: String) async throws {
        let (reader, end) = (output.fileHandleForReading.fileDescriptor, Array(text.utf8))
        let isFound = await withCheckedContinuation { continuation in
            let read: @Sendable () -> Bool = {
                var (last, byte): ([UInt8], UInt8) = ([], 0)
                while last != end {
                    guard LibC.read(reader, &byte, 1) == 1 else { return false }
                    last = (last + [byte]).suffix(end.count)
                }
                return true
            }
            // It blocks, so it runs on none of Swift's threads.
            do {
                try Pipeline.Thread.start(name: "openssl") { continuation.resume(returning: read()) }
            } catch { continuation.resume(returning: false) }
        }
        try #require(isFound)
    }

    /// Sends a record.
    func send(_ text: String) { input.fileHandleForWriting.write(Data(text.utf8)) }
}

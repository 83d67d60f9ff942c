import Foundation
import Testing

/// A running command that answers with an object a line, such as `pipectl fetch --stdio`.
final class Coprocess {
    private let process: Process
    private let input = Pipe()
    private let output = Pipe()
    private let errors = Pipe()
    private var lines: AsyncStream<String>.Iterator

    init(_ pipectl: Pipectl, verb: [String] = ["fetch", "--stdio"], _ arguments: String...) throws {
        process = try pipectl.start(
            verb + arguments, input: input, output: output, errors: errors)
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let handle = output.fileHandleForReading
        // Reading blocks: it has a thread of its own. FileHandle itself ends the program when a signal interrupts it.
        Thread.detachNewThread {
            var rest: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(handle.fileDescriptor, &chunk, chunk.count)
                if count < 0 && errno == EINTR { continue }
                if count <= 0 { break }
                rest += chunk[..<count]
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeSubrange(...end)
                }
            }
            continuation.finish()
        }
        lines = stream.makeAsyncIterator()
    }

    /// Nothing outlives its test.
    deinit { if process.isRunning { process.terminate() } }

    /// The next line, as an object; `nil` at the end.
    func next(isolation: isolated (any Actor)? = #isolation) async throws -> [String: Any]? {
        guard let line = await lines.next(isolation: isolation) else { return nil }
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }

    /// Writes a line.
    func write(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// Writes a request.
    func send(_ id: Int, _ url: URL, _ members: [String: Any] = [:]) throws {
        let request = members.merging(["id": id, "url": url.absoluteString]) { $1 }
        let line = try JSONSerialization.data(withJSONObject: request)
        try write(String(decoding: line, as: UTF8.self))
    }

    func endInput() throws { try input.fileHandleForWriting.close() }

    func terminate() { process.terminate() }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// The exit status, once the program has ended.
    func status(isolation: isolated (any Actor)? = #isolation) async -> Int32 { await Pipectl.status(of: process) }
}

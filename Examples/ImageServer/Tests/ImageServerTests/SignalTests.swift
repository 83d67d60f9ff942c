import Foundation
import PipelineTesting
import Stages
import Testing

@testable import ImageServer
@testable import PipelineServer

@Suite("The program acts on signals", .timeLimit(.minutes(2)))
final class SignalTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "signals-\(UUID().uuidString)")
    private let process = Process()

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try writeKeys("a1")
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    private func writeKeys(_ byte: String) throws {
        try Data(String(repeating: byte, count: 16).utf8).write(to: folder.appending(path: "keys"))
    }

    /// Starts the program, and returns its port and its log.
    private func start(_ options: [String]) async throws -> (port: Int, log: FileHandle) {
        let (output, log) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "ImageServer")
        process.arguments =
            [
                "--port", "0", "--folder", folder.path, "--keys-file", folder.appending(path: "keys").path, "--cache",
                folder.appending(path: "cache").path,
            ] + options
        process.standardOutput = output
        process.standardError = log
        try process.run()
        let text = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: String(decoding: output.fileHandleForReading.availableData, as: UTF8.self))
            }
        }
        return (try #require(Int(text.split(whereSeparator: \.isWhitespace).last ?? "")), log.fileHandleForReading)
    }

    private func status(_ path: String, _ port: Int) async throws -> Int {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        return try await CurlClient(.init(addresses: .any)).send(TransferRequest(url: url)).status
    }

    private func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    private func exit() async -> Int32 {
        while process.isRunning { try? await Task.sleep(for: .milliseconds(10)) }
        return process.terminationStatus
    }

    @Test("The page of metrics at its own port is for known hosts alone")
    func metrics() async throws {
        let port = try #require(try ScriptedOrigin().url("/").port)
        _ = try await start(["--metrics-port", "\(port)"])
        for (host, status) in [("localhost:\(port)", "200"), ("evil.example:\(port)", "421")] {
            let connection = try RawConnection(port: port)
            connection.send("GET /metrics HTTP/1.1\nHost: \(host)\nConnection: close\n\n")
            let answer = try #require(await connection.rest())
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(host): \(answer.prefix(100))")
        }
        signal(SIGINT)
        #expect(await exit() == 0)
    }

    @Test("SIGHUP reads the keys again, and SIGTERM ends the readiness before the server")
    func hangUpAndTerminate() async throws {
        let (port, log) = try await start(["--drain-seconds", "60", "--log", "all"])
        #expect(try await status("/iiif/x/info.json", port) == 403)
        let keys = try SigningKeys([.init(secret: Array(repeating: 0xB2, count: 16))])
        let path = "/iiif/0.\(keys.signature(of: "0/missing.png"))/missing.png/info.json"
        #expect(try await status(path, port) == 403)
        try writeKeys("b2")
        signal(SIGHUP)
        while try await status(path, port) == 403 {}
        #expect(try await status(path, port) == 404)
        #expect(try await status("/health/ready", port) == 200)
        signal(SIGTERM)
        while try await status("/health/ready", port) == 200 {}
        #expect(try await status(path, port) == 404)
        signal(SIGTERM)
        #expect(await exit() == 0)
        let lines = String(decoding: try log.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n")
        #expect(
            lines.contains { $0.hasPrefix("{\"time\":") && $0.contains("\"status\":404") && $0.contains("\"note\":") })
    }

    @Test("SIGINT ends the server without a wait")
    func interrupt() async throws {
        let (port, _) = try await start(["--drain-seconds", "600"])
        #expect(try await status("/health/ready", port) == 200)
        signal(SIGINT)
        #expect(await exit() == 0)
    }
}

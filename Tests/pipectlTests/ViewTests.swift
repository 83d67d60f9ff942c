import Foundation
import Pipeline
import PipelineImages
import Testing

@testable import PipelineCommand

@Suite("pipectl view")
struct ViewTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-progressive-444.jpg", as: "photo.jpg")
    }

    /// What the command writes to a terminal of 80 columns and 24 rows that answers its question.
    private func view(_ command: String, answer: String?, environment: [String: String] = [:]) async throws -> (
        status: Int32, text: String
    ) {
        let (input, output, errors) = (Pipe(), Pipe(), Pipe())
        let path = Pipectl.executable.deletingLastPathComponent().path
        let clean = ["TERM": "xterm", "COLORTERM": "truecolor", "TERM_PROGRAM": "", "LC_TERMINAL": ""]
        let process = try pipectl.start(
            ["-qec", "PATH=\(path):$PATH; \(command)", "/dev/null"], executable: URL(filePath: "/usr/bin/script"),
            input: input, output: output, errors: errors, environment: clean.merging(environment) { $1 })
        let text = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var bytes: [UInt8] = []
                var isAnswered = answer == nil
                var chunk = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = read(output.fileHandleForReading.fileDescriptor, &chunk, chunk.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { break }
                    bytes += chunk[..<count]
                    if !isAnswered, String(decoding: bytes, as: UTF8.self).contains("\u{1B}[c") {
                        isAnswered = true
                        try? input.fileHandleForWriting.write(contentsOf: Data((answer ?? "").utf8))
                    }
                }
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
        return (await Pipectl.status(of: process), text)
    }

    @Test("sends a terminal that says so a PNG file in kitty's protocol, shrunk to its pixels")
    func kitty() async throws {
        let result = try await view(
            "pipectl view photo.jpg", answer: "\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[6;10;5t\u{1B}[?62;4;22c")
        #expect(result.status == 0)
        let pieces = result.text.components(separatedBy: "\u{1B}_G").dropFirst().filter { !$0.hasPrefix("i=31,") }
        #expect(pieces.first?.hasPrefix("a=T,f=100,q=2,m=1;") == true)
        #expect(pieces.last?.hasPrefix("m=0;") == true)
        let text = pieces.compactMap { $0.components(separatedBy: ";").last?.components(separatedBy: "\u{1B}").first }
        let file = try #require(Data(base64Encoded: text.joined()))
        // 22 rows of 10 pixels.
        #expect(try await ImageMetadata(of: [UInt8](file)).size.height == 220)
    }

    @Test("sends sixels to a terminal that has them")
    func sixel() async throws {
        let result = try await view("cat photo.jpg | pipectl view -", answer: "\u{1B}[?62;4;22c")
        #expect(result.status == 0)
        #expect(result.text.contains("\u{1B}P0;1q\"1;1;"))
        #expect(!result.text.contains("▀"))
    }

    @Test("sends iTerm's inline images to a program of that name")
    func iterm() async throws {
        let result = try await view(
            "pipectl view photo.jpg", answer: "\u{1B}[?62c", environment: ["TERM_PROGRAM": "iTerm.app"])
        #expect(result.text.contains("\u{1B}]1337;File=inline=1;size="))
    }

    @Test("draws half blocks where the terminal can do no more, or doesn't answer", arguments: ["\u{1B}[?1;2c", nil])
    func blocks(answer: String?) async throws {
        let result = try await view("pipectl view photo.jpg --rows 4", answer: answer)
        #expect(result.status == 0)
        #expect(result.text.components(separatedBy: "\u{1B}[0m").count - 1 == 4)
        #expect(result.text.contains("\u{1B}[38;2;"))
        let few = try await view(
            "pipectl view photo.jpg --graphics blocks", answer: nil, environment: ["COLORTERM": ""])
        #expect(few.text.contains("\u{1B}[38;5;"))
        #expect(!few.text.contains("\u{1B}[c"))
    }

    @Test("leaves the terminal as it was, and shows no control characters of names")
    func terminal() async throws {
        try FileManager.default.copyItem(
            atPath: pipectl.path("photo.jpg"), toPath: pipectl.path("a\u{1B}]0;b\u{7}.jpg"))
        let result = try await view(
            "stty -a >before; pipectl view *.jpg; stty -a >after", answer: "\u{1B}[?1;2c")
        #expect(result.text.contains("a%1B]0;b%07.jpg"))
        #expect(!result.text.contains("\u{1B}]0;b"))
        #expect(try pipectl.content("before") == pipectl.content("after"))
    }

    @Test("never writes to a pipe or a file, and reports missing files")
    func noTerminal() async throws {
        for command in ["pipectl view photo.jpg", "pipectl view photo.jpg --graphics kitty"] {
            let result = try await pipectl.shell(command)
            #expect(result.status == 2)
            #expect(result.output.isEmpty)
        }
        let result = try await view("pipectl view none.jpg photo.jpg --graphics blocks", answer: nil)
        #expect(result.status == 1)
        #expect(result.text.contains("none.jpg"))
        #expect(result.text.contains("▀"))
    }

    @Test(
        "takes nothing from a reply that makes no sense",
        arguments: [
            "", "\u{1B}", "\u{1B}[6;99999999999999999999;1t", "\u{1B}[6;0;0t", "\u{1B}[?c", "\u{1B}_Gi=31;EBAD\u{1B}\\",
            "\u{1B}[6;1t\u{1B}[?40;14c", "typed\u{1B}[A",
        ])
    func answers(text: String) { #expect(TerminalAnswer(Array(text.utf8)) == TerminalAnswer([])) }

    @Test("sixels are bands of six rows with a run for each colour")
    func sixels() {
        // Red above, seven rows; the last column is clear but for its last row, which is blue.
        let pixels = (0..<7).flatMap { y -> [UInt8] in
            let last: [UInt8] = y == 6 ? [0, 0, 255, 255] : [0, 0, 0, 0]
            return (0..<5).flatMap { _ in [255, 0, 0, 255] as [UInt8] } + last
        }
        #expect(
            Sixel.text(pixels, PixelSize(width: 6, height: 7))
                == "\u{1B}P0;1q\"1;1;6;7#0;2;100;0;0#1;2;0;0;100#0!5~-#0!5@$#1!5?@-\u{1B}\\")
    }

    @Test("half blocks leave what is clear to the terminal")
    func clear() {
        let pixels: [UInt8] = [1, 2, 3, 255, 0, 0, 0, 0, 0, 0, 0, 0, 4, 5, 6, 255]
        #expect(
            TerminalBlocks.text(pixels, PixelSize(width: 2, height: 2), isTrueColor: true)
                == "\u{1B}[49m\u{1B}[38;2;1;2;3m▀\u{1B}[49m\u{1B}[38;2;4;5;6m▄\u{1B}[0m\n")
    }
}

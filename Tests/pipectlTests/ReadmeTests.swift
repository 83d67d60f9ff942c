import Foundation
import HTTPTypes
import PipelineTesting
import TestFixtures
import Testing

@Suite("What the README and pipectl's page show of pipectl is what pipectl says")
struct ReadmeTests {
    @Test(
        "each command's output, made again, is the one that stands there", .onLinux,
        arguments: [
            ("README.md", 3), ("Documentation/pipectl.md", 25),
        ])
    func outputs(path: String, atLeast least: Int) async throws {
        let pipectl = try Pipectl()
        try pipectl.add("good/photo-12mp-baseline-420.jpg", as: "photo.jpg")
        try pipectl.add("good/jpeg-progressive-444.jpg", as: "album/harbour.jpg")
        try pipectl.add("good/webp-lossless.webp", as: "album/2019/bricks.webp")
        try pipectl.add("good/png-icc-rec2020.png", as: "album/2019/colours.png")
        try Data(Self.poster.utf8).write(to: pipectl.folder.appending(path: "poster.yaml"))
        let photo = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        let origin = try ScriptedOrigin { _ in .init(headers: [.cacheControl: "max-age=600"], body: photo) }
        let file = Repository.folder.appending(path: path)
        let page = try String(contentsOf: file, encoding: .utf8)
        var lines: [String] = []
        var isInside = false
        var shown: [Example] = []
        for line in page.components(separatedBy: "\n") {
            if line.hasPrefix("```") { isInside = line == "```console" }
            if isInside, line.hasPrefix("$ ") {
                shown.append(Example(command: String(line.dropFirst(2))))
            } else if isInside, !line.hasPrefix("```"), !shown.isEmpty {
                shown[shown.count - 1].output.append(line)
                continue
            }
            lines.append(line)
        }
        #expect(shown.count >= least)
        var made: [Example] = []
        for example in shown {
            let command = example.command.replacing("localhost:8000", with: "127.0.0.1:\(origin.port)")
            let result = try await pipectl.shell("{ \(command); } 2>&1")
            let text = result.text.replacing("127.0.0.1:\(origin.port)", with: "localhost:8000")
                .replacing(pipectl.path("cache"), with: "~/.cache")
            made.append(Example(command: example.command, output: text.split(separator: "\n").map(String.init)))
        }
        if ProcessInfo.processInfo.environment["UPDATE_README"] == "1" {
            try Self.written(lines, made).write(to: file, atomically: true, encoding: .utf8)
        }
        for (example, made) in zip(shown, made) {
            #expect(example.comparable == made.comparable, "\(example.command); make readme updates it")
        }
    }

    private static let poster = """
        - readFile
        - decode
        - resize: {width: 800, height: 600, fit: cover}
        - sharpen: 0.5
        - roundCorners: 24
        """

    private struct Example {
        let command: String
        var output: [String] = []

        /// In any order, since several images are worked on at a time, and without what differs from run to run or with
        /// the next version of an encoder.
        var comparable: [String] {
            output.map { line in
                line.replacing(/in [0-9.]+ s, [0-9.]+\/s/, with: "in … s")
                    .replacing(/[0-9.]+ [KM]?B\b/, with: "… B").replacing(/[0-9]+ bytes/, with: "… bytes")
            }.sorted()
        }
    }

    /// The page with the outputs put in below their commands.
    private static func written(_ lines: [String], _ examples: [Example]) -> String {
        var rest = examples[...]
        return lines.flatMap { line in
            guard line.hasPrefix("$ "), let example = rest.popFirst() else { return [line] }
            return [line] + example.output
        }.joined(separator: "\n")
    }
}

import Foundation
import Testing

@Suite("The starter")
struct StarterTests {
    private let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Starter")

    private func lines(_ path: String) throws -> [Substring] {
        try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    }

    @Test("has a service of at most 40 lines")
    func service() throws {
        let sources = folder.appending(path: "Sources/Thumbnails").path
        let files = try FileManager.default.contentsOfDirectory(atPath: sources)
        #expect(files.count > 1)
        #expect(try files.reduce(0) { try $0 + lines("Sources/Thumbnails/\($1)").count } <= 40)
    }

    @Test("leads to a thumbnail in at most 20 lines that are typed")
    func typed() throws {
        let blocks = try lines("README.md").split { $0.hasPrefix("```") }
        let typed = blocks.enumerated().filter { !$0.offset.isMultiple(of: 2) }.flatMap(\.element)
        #expect(typed.contains { $0.hasPrefix("curl ") })
        #expect(typed.count <= 20)
    }
}

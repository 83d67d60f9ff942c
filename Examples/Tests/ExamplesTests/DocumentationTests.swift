import Foundation
import Pipeline
import Stages
import Testing

@Suite("What the documentation shows is true")
struct DocumentationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../..").standardizedFileURL

    /// The README, the page on `pipectl`, and every page of the packages and of the modules' documentation.
    private static let pages: [String] = {
        let sources = root.appending(path: "Sources")
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?.allObjects ?? []
        let paths = files.compactMap { ($0 as? URL)?.path }.filter { $0.hasSuffix(".md") }
        return ["README.md", "Documentation/pipectl.md"] + packages.map { "\($0)/README.md" }
            + paths.map { String($0.dropFirst(root.path.count + 1)) }.sorted()
    }()

    /// The packages below `Packages`.
    private static let packages: [String] = {
        let names = try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Packages").path)
        return (names ?? []).sorted().map { "Packages/\($0)" }
    }()

    /// The code blocks of a page in a language, without indentation.
    private static func blocks(_ page: String, in language: String) throws -> [[String]] {
        let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
        let fences = text.split(separator: "\n", omittingEmptySubsequences: false)
            .split(omittingEmptySubsequences: false) { $0.hasPrefix("```") }
        let languages = text.split(separator: "\n").filter { $0.hasPrefix("```") }.enumerated()
            .filter { $0.offset.isMultiple(of: 2) }.map { $0.element.dropFirst(3) }
        let inside = fences.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
        return zip(languages, inside).filter { $0.0 == language }.map { $0.1.map(trimmed) }
    }

    private static func trimmed(_ line: some StringProtocol) -> String { line.trimmingCharacters(in: .whitespaces) }

    /// All Swift files that are compiled with the library, its packages or its examples, as lines without indentation.
    private static func compiled() throws -> [[String]] {
        let folders =
            ["Sources", "Examples/Sources", "Examples/Tests"] + packages.flatMap { ["\($0)/Sources", "\($0)/Tests"] }
        return try folders.flatMap { folder in
            let files = FileManager.default.enumerator(
                at: root.appending(path: folder), includingPropertiesForKeys: nil)
            return try (files?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map {
                try String(contentsOf: $0, encoding: .utf8).components(separatedBy: "\n").map(trimmed)
            }
        }
    }

    @Test("every Swift snippet stands, line for line, in code that is compiled", arguments: pages)
    func snippets(page: String) throws {
        let files = try Self.compiled()
        for snippet in try Self.blocks(page, in: "swift") {
            #expect(
                files.contains { $0.contains(snippet) },
                "\(page) shows what no file has:\n\(snippet.joined(separator: "\n"))")
        }
    }

    @Test("there are pages and snippets to check")
    func someSnippets() throws {
        #expect(Self.pages.count > 15)
        #expect(try Self.pages.count { try !Self.blocks($0, in: "swift").isEmpty } > 10)
    }

    @Test("every printed list is what its policy prints")
    func lists() throws {
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: "/nowhere"), client: CurlClient())
        let printed: [ImagePipeline] = [
            .returnCacheElseLoad(resources), .returnCacheElseLoad(resources).removing(Fetch.self), .offline(resources),
            .ignoreCache(resources), .useProtocol(resources),
            .returnCacheElseLoad(resources, cacheDelay: .milliseconds(50), downloadDelay: .seconds(1)),
        ]
        let shown = try Self.blocks("Sources/Pipeline/Documentation.docc/PoliciesAreArrangements.md", in: "text")
        #expect(shown == printed.map { "\($0)".components(separatedBy: "\n").map(Self.trimmed) })
    }
}

import Foundation
import TestFixtures
import Testing

@Suite("The list of decisions")
struct DecisionsTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Repository.folder.appending(path: path), encoding: .utf8)
    }

    /// The cells of each row: part, files, library, reason, benchmark, fuzz target, end.
    private static func rows() throws -> [[String]] {
        try text("Documentation/Decisions.md").split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map {
            $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    /// What stands in backticks.
    private static func quoted(_ cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    @Test("Every row has all its cells, and names files that exist")
    func files() throws {
        let rows = try Self.rows()
        #expect(rows.count > 10)
        for row in rows {
            #expect(row.count == 7 && row.allSatisfy { !$0.isEmpty }, "\(row)")
            let files = Self.quoted(row[1])
            #expect(!files.isEmpty)
            for file in files {
                #expect(FileManager.default.fileExists(atPath: Repository.folder.appending(path: file).path), "\(file)")
            }
        }
    }

    @Test("Every fuzz target is one that make fuzz runs")
    func targets() throws {
        let makefile = try Self.text("Makefile").split(separator: "\n")
        func words(_ name: String) -> [String] {
            makefile.first { $0.hasPrefix("\(name) = ") }?.split(separator: " ").dropFirst(2).map(String.init) ?? []
        }
        let targets = words("FUZZ_C").map { "c-\($0)" } + words("FUZZ_SWIFT")
        #expect(targets.count > 10)
        for row in try Self.rows() where !row[5].hasPrefix("none: ") {
            #expect(!Self.quoted(row[5]).isEmpty && Self.quoted(row[5]).allSatisfy(targets.contains), "\(row[5])")
        }
    }

    @Test("Every benchmark is a row that is printed, or a command's")
    func benchmarks() throws {
        let results = try Self.text("Benchmarks/RESULTS.md")
        let codecs = try Self.text("Scripts/bench-codecs")
        let commands = try Self.text("Benchmarks/Sources/benchmarks/main.swift")
        for row in try Self.rows() {
            for benchmark in row[4].split(separator: ";").map({ $0.trimmingCharacters(in: .whitespaces) }) {
                let parts = benchmark.split(separator: ":", maxSplits: 1).map(String.init)
                switch parts[0] {
                case "RESULTS": #expect(results.contains("- pass:\(parts[1]), against vipsthumbnail"), "\(benchmark)")
                case "CODECS": #expect(codecs.contains("compare '\(parts[1].dropFirst())'"), "\(benchmark)")
                case "none": #expect(parts.count == 2)
                default:
                    let words = Self.quoted(benchmark).first?.split(separator: " ") ?? []
                    #expect(words.first == "benchmarks", "\(benchmark)")
                    if let word = words.dropFirst().first { #expect(commands.contains("case \"\(word)\"")) }
                }
            }
        }
    }
}

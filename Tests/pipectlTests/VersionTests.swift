import Foundation
import SourceVersion
import TestFixtures
import Testing

@testable import PipelineCommand

@Suite("The version")
struct VersionTests {
    @Test("names the commit between releases, where it is known")
    func commit() {
        #expect(SourceVersion.text(of: "0.2.0-dev", commit: "5000c9f5") == "0.2.0-dev+5000c9f5")
        #expect(SourceVersion.text(of: "0.2.0-dev", commit: "") == "0.2.0-dev")
        #expect(SourceVersion.text(of: "0.2.0", commit: "5000c9f5") == "0.2.0")
    }

    @Test("is the changelog's newest, or ends in -dev and is higher while changes are unreleased")
    func changelog() throws {
        let file = Repository.folder.appending(path: "CHANGELOG.md")
        let sections = try String(contentsOf: file, encoding: .utf8).split(separator: "\n## [").dropFirst()
        let unreleased = try #require(sections.first { $0.hasPrefix("Unreleased]") })
        let released = try #require(sections.first { !$0.hasPrefix("Unreleased]") }?.prefix { $0 != "]" })
        let (number, suffix) = Self.parts(SourceVersion.number)
        if unreleased.contains("\n- ") {
            #expect(suffix == "dev")
            #expect(Self.parts(String(released)).0.lexicographicallyPrecedes(number))
        } else {
            #expect(SourceVersion.number == released)
        }
    }

    private static func parts(_ version: String) -> ([Int], suffix: Substring?) {
        let parts = version.split(separator: "-", maxSplits: 1)
        return (parts[0].split(separator: ".").compactMap { Int($0) }, parts.dropFirst().first)
    }

    @Test("is what the command prints, with what make built it from")
    func printed() async throws {
        let result = try await Pipectl().shell("pipectl --version")
        #expect(result.text == SourceVersion.text + "\n")
    }
}

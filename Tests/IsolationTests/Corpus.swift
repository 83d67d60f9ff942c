import Foundation
import Pipeline
import PipelineImages
import PipelineIsolation
import TestFixtures

/// Images that tests of isolation decode.
enum Corpus {
    /// The images of a folder of `Tests/Images`.
    static func files(_ folder: String) throws -> [(name: String, bytes: [UInt8])] {
        try read(paths(folder))
    }

    /// The paths of these.
    static func paths(_ folder: String) throws -> [String] {
        try FileManager.default
            .contentsOfDirectory(at: URL(filePath: Pictures.path(folder)), includingPropertiesForKeys: nil)
            .filter { !$0.hasDirectoryPath }.map(\.path).sorted()
    }

    /// The inputs of all fuzz targets that read images.
    static func fuzzed() throws -> [(name: String, bytes: [UInt8])] {
        try read(fuzzedPaths())
    }

    private static func read(_ paths: [String]) throws -> [(name: String, bytes: [UInt8])] {
        try paths.map { (URL(filePath: $0).lastPathComponent, [UInt8](try Data(contentsOf: URL(filePath: $0)))) }
    }

    /// The paths of these.
    static func fuzzedPaths() -> [String] {
        let folder = URL(filePath: Pictures.path("../../Fuzz/Corpus")).standardizedFileURL
        let names = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (names?.allObjects as? [URL] ?? []).filter { !$0.hasDirectoryPath }.map(\.path).sorted()
    }

    /// A helper of this build.
    static func helper(_ name: String) -> String {
        let program = URL(
            filePath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "")
        let beside = program.deletingLastPathComponent().appending(path: name).path
        if FileManager.default.isExecutableFile(atPath: beside) { return beside }
        // `swift test` loads the tests into a program of the toolchain.
        return Bundle.allBundles.lazy.map { $0.bundleURL.deletingLastPathComponent().appending(path: name).path }
            .first { FileManager.default.isExecutableFile(atPath: $0) } ?? name
    }

    /// A pool of this build's helper.
    static func pool(
        workers: Int = 2, limits: ImageLimits = ImageLimits(), helper name: String = "pipeline-decoder"
    ) async throws -> DecoderPool {
        try await DecoderPool(workers: workers, limits: limits, helper: helper(name))
    }
}

import Foundation
import Pipeline
import PipelineImages
import PipelineIsolation

/// Images that tests of isolation decode.
enum Corpus {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    /// The files of a folder of `Tests/StagesTests/Images`.
    static func files(_ folder: String) throws -> [(name: String, bytes: [UInt8])] {
        let folder = root.appending(path: "StagesTests/Images/\(folder)")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { !$0.hasDirectoryPath }.sorted { $0.path < $1.path }
            .map { ($0.lastPathComponent, [UInt8](try Data(contentsOf: $0))) }
    }

    /// The paths of the files of a folder.
    static func paths(_ folder: String) throws -> [String] {
        try files(folder).map { root.appending(path: "StagesTests/Images/\(folder)/\($0.name)").path }
    }

    static func file(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: root.appending(path: "StagesTests/Images/\(path)")))
    }

    /// The inputs of all fuzz targets that read images.
    static func fuzzed() throws -> [(name: String, bytes: [UInt8])] {
        try fuzzedPaths().map { URL(filePath: $0) }.map { ($0.lastPathComponent, [UInt8](try Data(contentsOf: $0))) }
    }

    /// The paths of these.
    static func fuzzedPaths() -> [String] {
        let folder = root.deletingLastPathComponent().appending(path: "Fuzz/Corpus")
        let names = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (names?.allObjects as? [URL] ?? []).filter { !$0.hasDirectoryPath }.map(\.path).sorted()
    }

    /// A path in `Tests/StagesTests/Images`.
    static func path(_ name: String) -> String { root.appending(path: "StagesTests/Images/\(name)").path }

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

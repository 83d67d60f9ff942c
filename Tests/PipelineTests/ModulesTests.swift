import Foundation
import TestFixtures
import Testing

@Suite("The package's modules")
struct ModulesTests {
    /// What each module may import of the package's own. System libraries count where they are allowed.
    private static let arrows: [String: Set<String>] = [
        "LibC": [],
        "Essentials": [],
        "Pipeline": ["CThread"],
        "PipelineImages": [
            "Pipeline", "CAVIF", "CDeflate", "CHEIF", "CImages", "CJXL", "CSVG", "CTIFF", "CVips", "CWebP",
        ],
        "PipelineIsolation": ["Pipeline", "PipelineImages", "CSandbox"],
        "pipeline-decoder": ["PipelineIsolation"],
        "PipelineHTTP": ["Pipeline", "CCurl", "CSQLite"],
        "Stages": ["Pipeline", "PipelineHTTP", "PipelineImages", "PipelineIsolation"],
        "Digests": ["CCrypto"],
        "SourceVersion": ["CVersion"],
        "PipelineServer": ["Digests", "Pipeline", "PipelineHTTP", "PipelineImages", "SourceVersion", "Stages"],
        "PipelineShared": ["Digests", "Pipeline", "PipelineHTTP", "Stages", "CHiredis", "CTLS"],
        "PipelineFile": ["Pipeline", "Stages", "CYAML"],
        "PipelineMetrics": ["Pipeline", "Stages"],
        "PipelineSharedMetrics": ["PipelineShared"],
        "PipelineTracing": ["Pipeline", "Stages"],
        "PipelineTesting": ["Pipeline", "PipelineHTTP"],
        "PipelineCommand": [
            "Stages", "PipelineFile", "PipelineIsolation", "PipelineShared", "CArguments", "CAttributes",
            "CAVIF", "CJXL", "SourceVersion",
        ],
        "pipectl": ["PipelineCommand"],
    ]

    /// The platform's own libraries, which every module may import.
    private static let platform: Set<String> = ["LibC", "Essentials"]

    private struct Manifest: Decodable {
        struct Target: Decodable {
            let name: String
            let type: String
            let path: String?
            let dependencies: [Dependency]
        }
        /// A target of the package's own by its name; `nil` for another package's product.
        struct Dependency: Decodable {
            let target: String?

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Kind.self)
                let kind: Kind = container.contains(.byName) ? .byName : .target
                var values = try? container.nestedUnkeyedContainer(forKey: kind)
                target = try values?.decode(String.self)
            }

            private enum Kind: String, CodingKey { case byName, target }
        }
        let targets: [Target]

        /// The manifest as the package manager reads it.
        static func read() throws -> Manifest {
            let scratch = FileManager.default.temporaryDirectory.appending(path: "modules-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: scratch) }
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            // A folder of its own, since a build may hold the package's.
            process.arguments = [
                "swift", "package", "--package-path", Repository.folder.path, "--scratch-path", scratch.path,
                "dump-package",
            ]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            let text = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return try JSONDecoder().decode(Manifest.self, from: text)
        }
    }

    @Test("import each other only in the directions that the design allows")
    func directions() throws {
        let targets = try Manifest.read().targets.filter {
            ["regular", "executable"].contains($0.type) && $0.path?.hasPrefix("Tests/") != true
        }
        for target in targets where !target.name.hasPrefix("C") {
            let allowed = try #require(Self.arrows[target.name], "\(target.name) has no place among the modules")
            let others = Set(target.dependencies.compactMap(\.target)).subtracting(allowed.union(Self.platform))
            #expect(others.isEmpty, "\(target.name) must not import \(others.sorted())")
        }
        #expect(Set(Self.arrows.keys).isSubset(of: targets.map(\.name)))
    }
}

import Foundation
import Pipeline
import PipelineFile
import PipelineTesting
import Stages
import Testing

@Suite("The catalogue of stages")
struct CatalogTests {
    private let catalog = StageCatalog.standard(
        PipelineResources(memory: MemoryCache(), responses: HTTPCache(folder: "/nowhere"), client: CurlClient()))

    @Test("has every stage that the policies' lists name")
    func policies() throws {
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: "/nowhere"), client: CurlClient())
        let names = Set(catalog.specifications.map { $0.name.lowercased() })
        for policy: CachePolicy in [
            .returnCacheElseLoad(downloadDelay: .seconds(1)), .returnCacheDontLoad(), .ignoreCache(), .useProtocol,
        ] {
            let list = "\(policy.pipeline(resources))"
            for line in list.split(separator: "\n") {
                let name = line.drop { $0 == " " }.prefix { $0.isLetter }
                #expect(name.isEmpty || names.contains(name.lowercased()), "\(name)")
            }
        }
    }

    @Test("makes every stage that needs no value, under its own name")
    func names() throws {
        for specification in catalog.specifications where !specification.parameters.contains(where: \.isRequired) {
            let yaml = specification.isComposite ? "- \(specification.name): [decode]" : "- \(specification.name)"
            // Where it can't stand first, the refusal names it.
            let text: String
            do {
                text = "\(try PipelineDocument(yaml).pipeline(catalog))"
            } catch {
                text = "\(error)"
            }
            #expect(NearestName.folded(text).contains(NearestName.folded(specification.name)), "\(text)")
        }
    }

    @Test("lets a list load only the kinds of sources that the program allows")
    func allowedSources() throws {
        var resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: "/nowhere"), client: CurlClient())
        resources.allowedSources = .remote
        let list = try PipelineDocument("- resolveIdentifier").pipeline(.standard(resources))
        #expect("\(list)" == "ResolveIdentifier(allowing: remote)")
    }

    @Test(
        "operations on one line are the stages that they name",
        arguments: [
            ("resize=800:600:fit=cover,sharpen=0.5", "Resize(800×600, cover)\nSharpen(0.5, sigma: 0.7)"),
            (" resize = 80", "Resize(80×0, inside)"), ("crop=10:20:x=3:y=4", "Crop(x: 3, y: 4, 10×20)"),
            ("pad=9:9:colour=#fff,circle", "Pad(9×9, centre, #ffffff)\nCropCircle"), ("rotate=90", "Rotate(90°)"),
            ("crop=aspect=16/9:gravity=north", "Crop(16:9, north)"), ("crop=50%:25%", "Crop(50.0%×25.0%, centre)"),
            ("crop=10:20:x=5%", "Crop(x: 5.0%, y: 0, 10×20)"),
            ("rotate=-1.5:background=white", "Rotate(358.5°, #ffffff)"),
        ])
    func operations(text: String, expected: String) throws {
        #expect("\(try OperationList(text).chain)" == expected)
    }

    @Test("A watermark from a file lies where it is told, on one line as in a list")
    func composite() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "catalogue-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "mark.png").path
        try Data(Picture.png(PixelSize(width: 2, height: 1), with: [255, 0, 0])).write(to: URL(filePath: file))
        let line = try OperationList("composite=\(file):gravity=northWest:x=1").chain
        #expect("\(line)" == "Composite(2×1, northWest, offset: 1, 0)")
        let list = try PipelineDocument("- readFile\n- decode\n- composite: {file: \(file), gravity: northWest, x: 1}")
        let stage = try #require(line.stages.first as? Composite)
        let named = "\(try Chain(list.pipeline(catalog).chain.stages))"
        #expect(named.hasSuffix("\(line)"))
        let image = try await stage.apply(.filled(4, with: [0, 0, 0]))
        #expect(image.frames[0].bytes[0..<12] == [0, 0, 0, 255, 0, 0, 255, 0, 0, 0, 0, 0])
        let missing = #expect(throws: LoadError.self) { try OperationList("composite=\(file).none") }
        #expect(missing?.message.contains("There is no such file") == true)
        try Data("no picture".utf8).write(to: URL(filePath: file))
        let text = #expect(throws: LoadError.self) { try OperationList("composite=\(file)") }
        #expect(text?.message.contains("readable image") == true)
    }

    @Test("Limits of errors and previews have their names")
    func composites() throws {
        func list(_ yaml: String) throws -> String { "\(try PipelineDocument(yaml).pipeline(catalog))" }
        #expect(
            try list("- resolveIdentifier\n- limitErrors: {serverAttempts: 3, stages: [fetch]}")
                == "ResolveIdentifier\nLimitErrors {\n    Fetch\n}")
        #expect(try list("- preview: {minimumBytes: 4096, stages: [fetch]}") == "Preview {\n    Fetch\n}")
        for (yaml, message) in [
            ("- limitErrors: [fetch]", "limitErrors needs clientAttempts, serverAttempts, or both."),
            ("- limitErrors: {clientMaxAge: 9, stages: [fetch]}", "clientMaxAge needs clientAttempts."),
        ] {
            let error = #expect(throws: LoadError.self) { try list(yaml) }
            #expect(error?.message.hasSuffix(message) == true)
        }
    }
}

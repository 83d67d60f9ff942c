import Foundation
import Pipeline
@testable import PipelineFile
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("The reference of stages")
struct StageReferenceTests {
    private let pipectl: Pipectl
    private let catalog: StageCatalog

    init() throws {
        pipectl = try Pipectl()
        try Data(Picture.png(PixelSize(width: 20, height: 10), with: [255, 0, 0]))
            .write(to: pipectl.folder.appending(path: "logo.png"))
        catalog = .standard(
            PipelineResources(
                memory: MemoryCache(), responses: HTTPCache(folder: pipectl.path("cache")), client: CurlClient()))
    }

    private static let page = Repository.folder.appending(path: "Sources/PipelineFile/Documentation.docc/Stages.md")

    @Test("The page of documentation is what pipectl help stages writes")
    func page() async throws {
        let made = try await pipectl.run("help", "stages", "--as", "markdown")
        #expect(made.text == (try String(contentsOf: Self.page, encoding: .utf8)), "run make readme")
    }

    @Test("Every stage and parameter has its sentence, every parameter an example")
    func complete() {
        for stage in catalog.specifications {
            #expect(stage.summary.hasSuffix("."), "\(stage.name)")
            for parameter in stage.parameters {
                #expect(parameter.summary.hasSuffix("."), "\(stage.name) \(parameter.name)")
                #expect(!parameter.example.isEmpty, "\(stage.name) \(parameter.name)")
            }
        }
    }

    /// The example with its file where the tests have it.
    private func placed(_ example: String) -> String {
        let picture = pipectl.path("logo.png")
        return example.replacing("logo.png", with: picture).replacing("missing.png", with: picture)
    }

    /// The parameters that a stage can't do without. A crop has a size, or else an aspect.
    private func needed(by stage: StageSpecification) -> [ParameterDescription] {
        stage.parameters.filter { $0.isRequired || stage.name == "crop" && ["width", "height"].contains($0.name) }
    }

    @Test("Every example on one line, and each with another parameter, changes a picture")
    func lines() async throws {
        for stage in StageCatalog.operations.specifications {
            let example = try #require(stage.lineExample)
            let needed = needed(by: stage)
            let others = stage.parameters.filter { !needed.map(\.name).contains($0.name) }.map { parameter in
                let given = parameter.name == "aspect" ? [parameter] : needed + [parameter]
                return "\(stage.name)=" + given.map { "\($0.name)=\($0.example)" }.joined(separator: ":")
            }
            for line in [example] + others {
                let chain = try OperationList(placed(line)).chain
                let response = try await ImagePipeline(validating: Chain([ReadInline(), Decode()] + chain.stages))
                    .load(ImageRequest(.bytes(Picture.png(PixelSize(width: 1000, height: 500), with: [1, 2, 3]))))
                #expect(response.image != nil, "\(line)")
            }
        }
    }

    @Test("Every example of a list can be read and loads")
    func lists() async throws {
        for stage in catalog.specifications {
            let example = placed(stage.yamlExample)
            let whole = ["- resolveIdentifier", "- diskLookup", "- readInline", "- decode", "- store"]
                .filter { !example.hasPrefix($0) }
            let lists = [whole, whole.filter { $0 != "- decode" }].flatMap { lines in
                (0...lines.count).map { (lines[..<$0] + [example] + lines[$0...]).joined(separator: "\n") }
            }
            let request = ImageRequest(.bytes(Picture.png(PixelSize(width: 1000, height: 500), with: [1, 2, 3])))
            // A list may be valid and decode nothing of this source, where its decode stands before what reads it.
            var size: PixelSize?
            for list in lists where size == nil {
                guard let pipeline = try? PipelineDocument(list).pipeline(catalog) else { continue }
                size = try await pipeline.load(request).size
            }
            #expect(size != nil, "\(example)")
        }
    }

    @Test("A default is what a stage does without it")
    func defaults() throws {
        for stage in catalog.specifications where !stage.isComposite {
            let required = needed(by: stage).map { (Optional($0.name), placed($0.example)) }
            // A set's members come in any order.
            func text(_ arguments: [(String?, String)]) throws -> String {
                String("\(try catalog.stage(stage, arguments))".sorted())
            }
            let plain = try text(required)
            for parameter in stage.parameters {
                guard let standard = parameter.standard else { continue }
                #expect(try text(required + [(parameter.name, standard)]) == plain, "\(stage.name): \(parameter.name)")
            }
        }
    }

    @Test("Two transforms with the same signature make the same pixels, whatever their parameters")
    func signatures() async throws {
        let pixels = (0..<40 * 30 * 4).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) }
        let image = DecodedImage(size: PixelSize(width: 40, height: 30), layout: .rgba, pixels: pixels)
        for stage in StageCatalog.operations.specifications {
            let values = stage.parameters.map { "\($0.name)=\(placed($0.example))" }
            let needed = needed(by: stage).map { "\($0.name)=\(placed($0.example))" }
            // One parameter at a time, and the first ones together.
            let lines = values.map { needed + [$0] } + values.indices.map { Array(values[...$0]) }
            var results: [String: DecodedImage] = [:]
            for line in lines {
                let text = "\(stage.name)=\(line.joined(separator: ":"))"
                guard let chain = try? OperationList(text).chain else { continue }
                let transform = try #require(chain.stages.first as? any Transform)
                let result = try await transform.apply(image)
                let same = results.updateValue(result, forKey: try #require(transform.signature)) ?? result
                #expect(same.size == result.size && same.frames[0].bytes == result.frames[0].bytes, "\(text)")
            }
            #expect(results.count >= min(2, stage.parameters.count - needed.count), "\(stage.name)")
        }
    }

    @Test(
        "A word needs no name, nor a flag a value",
        arguments: [
            ("crop=400:300:attention", "crop=400:300:by=attention"),
            ("crop=400:300:north", "crop=400:300:gravity=north"), ("resize=80:enlarge", "resize=80:enlarge=true"),
            ("resize=80:60:enlarge:north-east:cover", "resize=80:60:fit=cover:gravity=northEast:enlarge=true"),
        ])
    func words(short: String, long: String) throws {
        #expect("\(try OperationList(short).chain)" == "\(try OperationList(long).chain)")
    }

    @Test(
        "A flag in YAML is its name alone",
        arguments: ["{format: webp, lossless: true}", "{format: webp, lossless}", "[webp, lossless]"])
    func flags(values: String) throws {
        let list = try PipelineDocument("- readInline\n- decode\n- encode: \(values)").pipeline(catalog)
        #expect("\(list)".contains("lossless"))
    }

    @Test(
        "A wrong word brings the nearest to mind",
        arguments: [
            ("crop=400:300:atention", "Did you mean attention?"), ("resize=80:60:covr", "Did you mean cover?"),
            ("resize=80:enlrage", "Did you mean enlarge?"), ("resize=80:fit=covr", "Did you mean cover?"),
        ])
    func nearest(line: String, remedy: String) throws {
        let error = #expect(throws: LoadError.self) { try OperationList(line) }
        #expect(error?.message.hasSuffix(remedy) == true, "\(error?.message ?? "")")
    }

    @Test("help stages describes all, or one, and names the nearest")
    func help() async throws {
        let all = try await pipectl.run("help", "stages").text
        for stage in catalog.specifications { #expect(all.contains("\(stage.name): \(stage.summary)")) }
        #expect(try await pipectl.run("help", "stages", "round-corners").text.hasPrefix("roundCorners: "))
        let wrong = try await pipectl.run("help", "stages", "crp")
        #expect(wrong.status == 2 && wrong.errors.contains("Did you mean crop?"), "\(wrong.errors)")
    }

    @Test(
        "The man page is one that groff reads without a warning", .withProgram("groff"))
    func manual() async throws {
        let result = try await pipectl.shell("pipectl help stages --as man | groff -man -ww -z -Tutf8")
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    }
}

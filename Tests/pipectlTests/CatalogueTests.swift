import Pipeline
import PipelineFile
import Stages
import Testing

@Suite("The catalogue of stages")
struct CatalogueTests {
    private let catalogue = StageCatalogue.standard(
        PipelineResources(memory: MemoryCache(), responses: HTTPCache(folder: "/nowhere"), client: CurlClient()))

    @Test("has every stage that the policies' lists name")
    func policies() throws {
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: "/nowhere"), client: CurlClient())
        let names = Set(catalogue.specifications.map { $0.name.lowercased() })
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
        for specification in catalogue.specifications where !specification.parameters.contains(where: \.isRequired) {
            let yaml = specification.isComposite ? "- \(specification.name): [decode]" : "- \(specification.name)"
            // Where it can't stand first, the refusal names it.
            let text: String
            do {
                text = "\(try PipelineDocument(yaml).pipeline(catalogue))"
            } catch {
                text = "\(error)"
            }
            #expect(text.lowercased().contains(specification.name.lowercased()), "\(text)")
        }
    }

    @Test(
        "operations on one line are the stages that they name",
        arguments: [
            ("resize=800:600:fit=cover,sharpen=0.5", "Resize(800×600, cover)\nSharpen(0.5, sigma: 0.7)"),
            (" resize = 80", "Resize(80×1000000, inside)"), ("crop=10:20:x=3:y=4", "Crop(x: 3, y: 4, 10×20)"),
            ("pad=9:9:colour=#fff,circle", "Pad(9×9, centre, #ffffff)\nCircle"), ("rotate=90", "Rotate(90°)"),
        ])
    func operations(text: String, expected: String) throws {
        #expect("\(try OperationList(text).chain)" == expected)
    }
}

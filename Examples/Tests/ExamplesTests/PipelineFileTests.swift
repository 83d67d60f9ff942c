import Pipeline
import PipelineTesting
import Stages
import Testing

@testable import StageOfYourOwn

@Suite("A pipeline from a file, with a stage of one's own")
struct PipelineFileTests {
    private let resources = PipelineResources(
        memory: MemoryCache(), responses: HTTPCache(folder: "/nowhere"), client: CurlClient())

    @Test("names the stage as it names the library's")
    func runs() async throws {
        let list = try pipeline(fromYAML: "- refuseHost: tracker.example\n- fetch\n- decode", resources)
        #expect("\(list)" == "RefuseHost\nFetch\nDecode(isolated)")
        let error = try await #require(throws: LoadError.self) {
            try await list.load(ImageRequest(ImageSource(parsing: "https://tracker.example/a.png")))
        }
        #expect(error.code == .refused)
    }

    @Test("checks its parameters as it checks the library's, with line, column and the nearest right name")
    func checks() throws {
        for (yaml, expected) in [
            ("- refuseHost", "pipeline:1:3: refuseHost needs host: a text."),
            ("- refuseHost: {hots: a}", "pipeline:1:16: refuseHost has no parameter hots. Did you mean host?"),
            ("- refusehots: a", "pipeline:1:3: There is no stage refusehots. Did you mean refuseHost?"),
        ] {
            let error = try #require(throws: LoadError.self) { try pipeline(fromYAML: yaml, resources) }
            #expect("\(error)" == expected)
        }
    }
}

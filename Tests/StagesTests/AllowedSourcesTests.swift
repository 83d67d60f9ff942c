import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("A program says which kinds of sources it loads")
struct AllowedSourcesTests {
    private let site: Site
    private let file = ImageSource.file(Pictures.path("good/png-basi2c08.png"))

    init() throws { site = try Site() }

    private func resources() -> PipelineResources {
        var resources = site.resources()
        resources.allowedSources = .remote
        return resources
    }

    @Test("A file is refused where only remote sources are allowed, by every policy and by a list of one's own")
    func refused() async throws {
        let resources = resources()
        let loader = ImageLoader(resources)
        for policy in [CachePolicy.standard, .useProtocol, .ignoreCache(), .returnCacheDontLoad(), .storeOnDisk] {
            let error = await failure(.refused) { try await loader.load(file, options: .init(policy: policy)) }
            #expect(error?.message == "This program loads no files of this machine; it allows remote.")
            _ = await failure(.refused) { try await policy.pipeline(resources).load(ImageRequest(file)) }
        }
        let own = try ImageLoader(resources) { _, resources in
            ImagePipeline {
                ResolveIdentifier()
                ReadFile()
                Decode()
                Store(resources.memory, nil)
            }
        }
        _ = await failure(.refused) { try await own.load(file) }
        _ = await failure(.refused) { try await loader.load(.dataURL("data:,a")) }
        _ = await failure(.refused) { try await loader.load(.bytes([1])) }
        #expect(try await loader.load(site.origin.url("/a")).image.width == 160)
    }

    @Test("By default every kind is loaded")
    func allowed() async throws { #expect(try await site.loader().load(file).source == .file) }
}

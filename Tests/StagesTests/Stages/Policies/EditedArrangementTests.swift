import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

import Stages

@Suite("An edited arrangement suits every policy")
struct EditedArrangementTests {
    private let site: Site

    init() throws { site = try Site() }

    private let policies: [CachePolicy] = [
        .standard, .useProtocol, .ignoreCache(), .returnCacheDontLoad(), .storeOnDisk,
    ]

    @Test("The code of Preview's documentation works with every policy")
    func preview() async throws {
        let loader = ImageLoader(site.resources()) { policy, resources in
            policy.pipeline(resources).replacing(
                Fetch.self, with: Preview { Fetch(resources.responses, resources.client) })
        }
        let url = site.origin.url("/a")
        _ = await failure(.notCached) { try await loader.load(url, options: .init(policy: .returnCacheDontLoad())) }
        for policy in policies.dropLast() {
            #expect(try await loader.load(url, options: .init(policy: policy)).image.width == 160)
        }
        for policy in policies {
            #expect(loader.pipeline(for: policy).contains(Preview.self) == (policy != .returnCacheDontLoad()))
        }
    }

    @Test("A state that reloads picks a policy that lacks the place of an edit")
    @MainActor
    func reload() async throws {
        let loader = ImageLoader(site.resources()) { policy, resources in
            policy.pipeline(resources).inserting(Delay(.zero), before: Lease.self)
        }
        let state = ImageState(.url(site.origin.url("/a")), loader: loader)
        for count in 1...2 {
            state.start()
            while true {
                if case .success = state.state { break }
                await Task.yield()
            }
            #expect(site.requests == count)
        }
    }

    @Test("A stage that works on pixels is left out of a list that makes none")
    func pixels() async throws {
        let loader = ImageLoader(site.resources()) { policy, resources in
            policy.pipeline(resources).inserting(Blur(sigma: 2), before: Store.self)
        }
        for policy in policies {
            #expect(loader.pipeline(for: policy).contains(Blur.self) == (policy != .storeOnDisk))
        }
        let prefetcher = Prefetcher(loader, destination: .disk)
        prefetcher.start([site.origin.url("/a")])
        var last: PrefetchProgress.Element?
        for await progress in prefetcher.progress { last = progress }
        #expect(last?.loaded == 1)
    }

    @Test("After an edit that leaves a stage without work each load fails, and the program continues")
    func withoutWork() async throws {
        let loader = ImageLoader(site.resources()) { policy, resources in
            policy.pipeline(resources).inserting(Blur(sigma: 2), before: Fetch.self)
        }
        let error = await failure(.stageContract) { try await loader.load(site.origin.url("/a")) }
        #expect(error?.message.hasPrefix("Blur can never run") == true)
        #expect(site.requests == 0)
    }
}

import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("An edited arrangement suits every policy")
struct EditedArrangementTests {
    private let site: Site

    init() throws { site = try Site() }

    private let policies: [CachePolicy] = [
        .standard, .useProtocol, .ignoreCache(), .returnCacheDontLoad(), .storeOnDisk,
    ]

    @Test("The code of Preview's documentation works with every policy")
    func preview() async throws {
        let loader = try ImageLoader(site.resources()) { policy, resources in
            policy.pipeline(resources).replacing(
                Fetch.self, with: Preview { Fetch(resources.client) },
                where: .present)
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
        let loader = try ImageLoader(site.resources()) { policy, resources in
            policy.pipeline(resources).inserting(Delay(.zero), before: Lease.self, where: .present)
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
        let loader = try ImageLoader(site.resources()) { policy, resources in
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

    @Test("An edit that leaves a stage without work is an error when the loader is made")
    func withoutWork() {
        let error = #expect(throws: LoadError.self) {
            try ImageLoader(site.resources()) { policy, resources in
                policy.pipeline(resources).inserting(Blur(sigma: 2), before: Fetch.self, where: .present)
            }
        }
        #expect(error?.code == .stageContract)
        #expect(error?.message.hasPrefix("The list of returnCacheElseLoad: Blur can never run") == true)
    }

    /// A guard that refuses every load.
    private var guardStage: ClosureStage {
        ClosureStage("Guard", produces: .empty) { load in
            throw LoadError(.refused, subject: load.subject, "The guard refuses it.")
        }
    }

    @Test("An edit that only some policies have a place for is an error when the loader is made, and names them")
    func fitsSome() {
        let error = #expect(throws: LoadError.self) {
            try ImageLoader(site.resources()) { policy, resources in
                policy.pipeline(resources).inserting(guardStage, before: Lease.self)
            }
        }
        #expect(error?.code == .stageContract)
        #expect(
            error?.message.hasPrefix(
                "inserting(Guard, before: Lease) finds no place in returnCacheDontLoad, offline, ignoreCache. ") == true
        )
    }

    @Test("An edit that no policy has a place for is an error when the loader is made")
    func fitsNone() {
        for edit in [
            { $0.replacing(Results.self, with: Delay(.zero)) }, { $0.removing(Results.self) },
            { $0.inserting(Delay(.zero), after: Results.self) },
        ] as [@Sendable (ImagePipeline) -> ImagePipeline] {
            let error = #expect(throws: LoadError.self) {
                try ImageLoader(site.resources()) { policy, resources in edit(policy.pipeline(resources)) }
            }
            #expect(
                error?.message.contains("(Results") == true || error?.message.contains(": Results") == true)
            #expect(error?.message.contains("storeOnDisk") == true)
        }
    }

    @Test("A guard before the origin guards every policy, and policies that ask no origin need none")
    func guarded() async throws {
        let loader = try ImageLoader(site.resources()) { policy, resources in
            policy.pipeline(resources).inserting(guardStage, at: .beforeOrigin)
        }
        let url = site.origin.url("/a")
        for policy in [CachePolicy.standard, .useProtocol, .ignoreCache(), .storeOnDisk] {
            _ = await failure(.refused) { try await loader.load(url, options: .init(policy: policy)) }
        }
        for policy in [CachePolicy.returnCacheDontLoad(), .offline] {
            _ = await failure(.notCached) { try await loader.load(url, options: .init(policy: policy)) }
        }
        #expect(site.requests == 0)
    }

    /// A stage that counts the loads that pass it, and says neither what it produces nor that it asks no origin.
    private func counting(_ name: String, _ passes: Counter) -> ClosureStage {
        ClosureStage(name) { _ in
            passes.increment()
            return .done
        }
    }

    @Test("Each of several guards before the origin is passed once, whatever it says of itself")
    func severalGuards() async throws {
        let (first, second, third, silent) = (Counter(), Counter(), Counter(), Counter())
        let loader = try ImageLoader(site.resources()) { policy, resources in
            policy.pipeline(resources).inserting(counting("One", first), at: .beforeOrigin)
                .inserting(counting("Two", second), at: .beforeOrigin)
                .inserting(
                    ClosureStage("Silent", produces: .empty) { _ in
                        silent.increment()
                        return .done
                    }, at: .beforeOrigin
                )
                .inserting(counting("Three", third), at: .beforeOrigin)
        }
        for (index, policy) in [CachePolicy.standard, .useProtocol, .ignoreCache()].enumerated() {
            _ = try await loader.load(site.origin.url("/\(index)"), options: .init(policy: policy))
            #expect([first, second, third, silent].map(\.value) == Array(repeating: index + 1, count: 4))
        }
        for policy in [CachePolicy.standard, .useProtocol, .ignoreCache(), .storeOnDisk] {
            let list = loader.pipeline(for: policy).description
            for name in ["One", "Two", "Three", "Silent"] {
                #expect(list.components(separatedBy: name).count == 2, "\(list)")
            }
        }
    }

    @Test("A guard stands before each stage that may ask the origin, also where one of them stands behind another")
    func severalOrigins() async throws {
        let (guards, resources) = (Counter(), site.resources())
        let fetch = Fetch(resources.client)
        let list = ImagePipeline(clock: site.clock) {
            ResolveIdentifier()
            ClosureStage("Own") { _ in .skipped }
            FirstOf {
                ClosureStage("Other") { load in
                    throw LoadError(.unreachable, subject: load.subject, "It can't be reached.")
                }
                fetch
            }
            Decode()
        }
        .inserting(counting("One", guards), at: .beforeOrigin)
        .inserting(counting("Two", guards), at: .beforeOrigin)
        _ = try await list.load(ImageRequest(site.origin.url("/a")))
        #expect(guards.value == 6, "\(list)")
    }

    @Test("A guard before an alternative is part of it")
    func guardedAlternative() async throws {
        let resources = site.resources()
        let list = ImagePipeline(clock: site.clock) {
            ResolveIdentifier()
            FirstOf { Fetch(resources.client) }
            Decode()
        }
        for list in [list.inserting(guardStage, before: Fetch.self), list.inserting(guardStage, at: .beforeOrigin)] {
            _ = await failure(.refused) { try await list.load(ImageRequest(site.origin.url("/a"))) }
        }
        #expect(site.requests == 0)
    }

    @Test("A list made later that lacks the place of an edit fails each load")
    func later() async throws {
        let loader = try ImageLoader(site.resources()) { policy, resources in
            guard case .ignoreCache(delay: .some) = policy else { return policy.pipeline(resources) }
            return policy.pipeline(resources).inserting(guardStage, before: Lease.self)
        }
        let error = await failure(.stageContract) {
            try await loader.load(site.origin.url("/a"), options: .init(policy: .ignoreCache(delay: .zero)))
        }
        #expect(error?.message.hasPrefix("inserting(Guard, before: Lease) finds no place") == true)
        #expect(site.requests == 0)
    }

    @Test("The places of an edit are found in each policy, once")
    func places() {
        for policy in policies {
            let list = policy.pipeline(site.resources())
            #expect(list.inserting(Delay(.zero), at: .afterResolve).description.hasPrefix("ResolveIdentifier\nDelay"))
            for place in [ListPlace.afterDecode, .beforeStore] {
                let edited = list.inserting(Blur(sigma: 2), at: place).description
                #expect(edited.components(separatedBy: "Blur").count == (policy == .storeOnDisk ? 1 : 2))
            }
        }
    }

    @Test("A stage before the store stands before the first of several, and before that of each alternative")
    func severalStores() {
        let resources = site.resources()
        let (own, store) = (
            WriteCache(ClosureCache(read: { _ in nil }, write: { _, _ in })),
            Store(resources.memory, resources.responses)
        )
        func edited(@ChainBuilder _ stages: () -> Chain) -> [String] {
            let stages = stages()
            let list = ImagePipeline(clock: site.clock) {
                ResolveIdentifier()
                Fetch(resources.client)
                Decode()
                stages
            }
            let lines = list.inserting(Blur(sigma: 2), at: .beforeStore).description.split(separator: "\n")
            return lines.dropFirst(3).map {
                String($0.drop { $0 == " " }.prefix { $0.isLetter || $0 == "}" })
            }
        }
        #expect(
            edited {
                own
                store
            } == ["Blur", "WriteCache", "Store"])
        #expect(
            edited {
                Timeout(.seconds(5)) { own }
                store
            } == ["Timeout", "Blur", "WriteCache", "}", "Store"])
        #expect(
            edited {
                own
                Timeout(.seconds(5)) { store }
            } == ["Blur", "WriteCache", "Timeout", "Store", "}"])
        #expect(
            edited {
                FirstOf {
                    Timeout(.seconds(5)) { own }
                    own
                    store
                }
            } == [
                "FirstOf", "Timeout", "Blur", "WriteCache", "}", "Alternative", "Blur", "WriteCache", "}",
                "Alternative", "Blur", "Store", "}", "}",
            ])
    }

    @Test("A place inside a composite is next to the stage that does it, not next to the composite")
    func insideComposites() {
        let resources = site.resources()
        let list = ImagePipeline(clock: site.clock) {
            Timeout(.seconds(5)) { ResolveIdentifier() }
            Retry { Timeout(.seconds(5)) { Fetch(resources.client) } }
            Timeout(.seconds(5)) { Decode() }
            Timeout(.seconds(5)) { Store(resources.memory, nil) }
        }
        func added(at place: ListPlace, _ stage: any Stage) -> String {
            let before = list.description.split(separator: "\n")
            let after = list.inserting(stage, at: place).description.split(separator: "\n")
            guard let index = after.firstIndex(where: { !before.contains($0) }), after.count == before.count + 1 else {
                return "\(after)"
            }
            return after[index - 1...index + 1].map { $0.prefix { $0 == " " || $0.isLetter } }.joined(separator: "|")
        }
        #expect(added(at: .afterResolve, Delay(.zero)) == "    ResolveIdentifier|    Delay|")
        #expect(added(at: .beforeOrigin, guardStage) == "    Timeout|        Guard|        Fetch")
        #expect(added(at: .afterDecode, Blur(sigma: 2)) == "    Decode|    Blur|")
        #expect(added(at: .beforeStore, Blur(sigma: 2)) == "Timeout|    Blur|    Store")
    }
}

import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@testable import Stages

@Suite("Lists that were built separately")
struct ListIdentityTests {
    private final class Folder: Sendable {}

    private struct Own: Stage {
        enum Mode: Sendable {
            case plain
            case other
            case named(String)
        }

        var mode = Mode.plain
        var folder: Folder?
        var sizes: Set<Int> = []
        var names: [String: Int] = [:]
        var work: @Sendable () -> Void = {}
        let accepts: Phases = .empty

        func run(_ load: inout Load) async throws -> Outcome { .done }
    }

    private struct Opaque: Stage, CustomReflectable {
        var value = 1
        var customMirror: Mirror { Mirror(self, children: []) }
        let accepts: Phases = .empty

        func run(_ load: inout Load) async throws -> Outcome { .done }
    }

    private func isSame(_ one: any Stage, _ other: any Stage) -> Bool {
        let (one, other) = (ListIdentity(Chain([one])), ListIdentity(Chain([other])))
        return one.structure == other.structure
    }

    private static func nothing() {}

    private func own(_ number: Int) -> Own { Own(work: { _ = number }) }

    @Test("Policies' lists over the same resources are the same, those over others are not")
    func policies() throws {
        let site = try Site()
        let resources = site.resources()
        func identity(_ policy: CachePolicy, _ resources: PipelineResources) -> ListIdentity {
            ListIdentity(policy.pipeline(resources).encoding(Encode(.webp), keptIn: resources.responses).chain)
        }
        let policies: [CachePolicy] = [
            .standard, .useProtocol, .ignoreCache(), .returnCacheDontLoad(),
            .returnCacheElseLoad(downloadDelay: .seconds(1)),
        ]
        for (one, policy) in policies.enumerated() {
            for (other, another) in policies.enumerated() {
                let isSame = identity(policy, resources).structure == identity(another, resources).structure
                #expect(isSame == (one == other))
            }
        }
        var changed = resources
        changed.client = CurlClient(.local)
        #expect(identity(.standard, changed).structure != identity(.standard, resources).structure)
        changed = resources
        changed.memory = MemoryCache()
        #expect(identity(.standard, changed).structure != identity(.standard, resources).structure)
        changed = resources
        changed.limits.frames = 2
        #expect(identity(.standard, changed).structure != identity(.standard, resources).structure)
    }

    @Test("Values count by value, classes by identity, and what hides its properties is like nothing else")
    func values() {
        let (folder, other) = (Folder(), Folder())
        let work: @Sendable () -> Void = { _ = folder }
        let base = Own(work: work)
        #expect(isSame(base, base))
        #expect(isSame(Own(folder: folder, work: work), Own(folder: folder, work: work)))
        #expect(!isSame(Own(folder: folder, work: work), Own(folder: other, work: work)))
        #expect(!isSame(Own(folder: folder, work: work), base))
        #expect(!isSame(Own(mode: .other, work: work), base))
        #expect(isSame(Own(mode: .named("a"), work: work), Own(mode: .named("a"), work: work)))
        #expect(!isSame(Own(mode: .named("a"), work: work), Own(mode: .named("b"), work: work)))
        #expect(isSame(Own(sizes: [1, 2, 3], work: work), Own(sizes: [3, 2, 1], work: work)))
        #expect(!isSame(Own(sizes: [1, 2], work: work), Own(sizes: [1, 2, 3], work: work)))
        #expect(isSame(Own(names: ["a": 1, "b": 2], work: work), Own(names: ["b": 2, "a": 1], work: work)))
        #expect(!isSame(Own(names: ["a": 1], work: work), Own(names: ["a": 2], work: work)))
        #expect(!isSame(Opaque(), Opaque()))
        #expect(!isSame(own(1), own(1)))
        #expect(!isSame(own(1), own(2)))
    }

    @Test("Lists with other clients, decoders or closures are never the same")
    func parts() {
        let (one, other) = (ClosureClient { _ in [1] }, ClosureClient { _ in [2] })
        #expect(isSame(Fetch(one), Fetch(one)))
        #expect(!isSame(Fetch(one), Fetch(other)))
        #expect(!isSame(Decode(threads: BlockingThreads(name: "own", count: 1)), Decode()))
        #expect(isSame(Decode(codecs: [.png, .jpeg, .webp]), Decode(codecs: [.png, .jpeg, .webp])))
        #expect(!isSame(Decode(codecs: [.png]), Decode(codecs: [.jpeg])))
        #expect(!isSame(Resize(PixelSize(width: 1, height: 2)), Resize(PixelSize(width: 2, height: 2))))
        let first = ClosureStage("A") { _ in .done }
        let second = ClosureStage("A") { _ in .miss }
        #expect(isSame(first, first))
        #expect(!isSame(first, second))
    }

    @Test("A list that is edited is another")
    func edited() throws {
        let resources = try Site().resources()
        let list = ImagePipeline.returnCacheElseLoad(resources)
        let edited = list.inserting(Resize(40), after: Downscale.self)
        #expect(ListIdentity(list.chain).structure != ListIdentity(edited.chain).structure)
        let again = list.inserting(Resize(40), after: Downscale.self)
        #expect(ListIdentity(again.chain).structure == ListIdentity(edited.chain).structure)
    }

    @Test("Forty equal cold loads, each with a list of its own, decode once")
    func forty() async throws {
        let site = try Site()
        let gate = try ScriptedOrigin.Gate()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/held") { _ in .init(body: picture).held(until: gate) }
        let resources = site.resources()
        let encodes = Counter()
        let count = ClosureTransform("Count", signature: "1") { image in
            encodes.increment()
            return image
        }
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await ImagePipeline.returnCacheElseLoad(resources)
                        .inserting(count, after: Decode.self)
                        .encoding(Encode(.webp), keptIn: resources.responses)
                        .load(ImageRequest(site.origin.url("/held"))).encoded?.bytes.count
                }
            }
            await site.flights.reaches(waiters: 41)
            gate.open()
            for try await bytes in group { #expect(bytes != nil) }
        }
        #expect(encodes.value == 1)
        #expect(site.requests == 1)
    }

    @Test("A list of options that only differs in its order shares the work of another")
    func identity() {
        var options = EncodeOptions()
        options.webp.effort = 6
        options.png.compression = 1
        var others = EncodeOptions()
        others.png.compression = 1
        others.webp.effort = 6
        func structure(_ options: EncodeOptions) -> ListStructure {
            ListIdentity(Chain([Encode(.webp, options: options)])).structure
        }
        #expect(structure(options) == structure(others))
        others.webp.effort = 5
        #expect(structure(options) != structure(others))
    }
}

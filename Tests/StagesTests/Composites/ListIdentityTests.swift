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
        var text = ""
        var folder: Folder?
        let accepts: Phases = .empty
        var identity: StageIdentity? { StageIdentity(text, over: folder.map { [$0] } ?? []) }

        func run(_ load: inout Load) async throws -> Outcome { .done }
    }

    private struct Silent: Stage {
        let accepts: Phases = .empty

        func run(_ load: inout Load) async throws -> Outcome { .done }
    }

    /// A client that is a value.
    private struct PlainClient: TransferClient {
        var urlRule: (@Sendable (URL) -> Bool)? { nil }

        func send(_ request: TransferRequest) async throws -> TransferResponse { throw CancellationError() }

        func shutdown() async {}
    }

    private func isSame(_ one: any Stage, _ other: any Stage) -> Bool {
        ListIdentity(Chain([one])) == ListIdentity(Chain([other]))
    }

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
                let isSame = identity(policy, resources) == identity(another, resources)
                #expect(isSame == (one == other))
            }
        }
        var changed = resources
        changed.client = CurlClient(.local)
        #expect(identity(.standard, changed) != identity(.standard, resources))
        changed = resources
        changed.memory = MemoryCache()
        #expect(identity(.standard, changed) != identity(.standard, resources))
        changed = resources
        changed.limits.frames = 2
        #expect(identity(.standard, changed) != identity(.standard, resources))
    }

    @Test("Stages count by what they say, and those that say nothing are the same in copies of a list alone")
    func stages() {
        let (folder, other) = (Folder(), Folder())
        #expect(isSame(Own(), Own()))
        #expect(isSame(Own(text: "a", folder: folder), Own(text: "a", folder: folder)))
        #expect(!isSame(Own(text: "a", folder: folder), Own(text: "b", folder: folder)))
        #expect(!isSame(Own(text: "a", folder: folder), Own(text: "a", folder: other)))
        #expect(!isSame(Own(text: "a", folder: folder), Own(text: "a")))
        #expect(!isSame(Silent(), Silent()))
        let list = Chain([Own(), Silent()])
        let copy = list
        #expect(ListIdentity(list) == ListIdentity(copy))
        #expect(!isSame(Fetch(PlainClient()), Fetch(PlainClient())))
    }

    @Test("A body ends where its composite does")
    func bodies() {
        let inside = Chain([
            FirstOf {
                Own(); Own()
            }
        ])
        let outside = Chain([FirstOf { Own() }, Own()])
        #expect(ListIdentity(inside) != ListIdentity(outside))
    }

    @Test("Each limit counts")
    func limits() {
        let changes: [(inout ImageLimits) -> Void] = [
            { $0.pixels = 1 }, { $0.side = 1 }, { $0.encodedBytes = 1 }, { $0.frames = 2 }, { $0.memory = 1 },
            { $0.time = .seconds(1) },
        ]
        for change in changes {
            var limits = ImageLimits()
            change(&limits)
            #expect(!isSame(Decode(limits: limits), Decode()))
            #expect(!isSame(CheckHeader(limits: limits), CheckHeader()))
        }
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
        #expect(ListIdentity(list.chain) != ListIdentity(edited.chain))
        let again = list.inserting(Resize(40), after: Downscale.self)
        #expect(ListIdentity(again.chain) == ListIdentity(edited.chain))
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
        #expect(isSame(Encode(.webp, options: options), Encode(.webp, options: others)))
        others.webp.effort = 5
        #expect(!isSame(Encode(.webp, options: options), Encode(.webp, options: others)))
    }
}

import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("A smaller result of a stored larger one", .inEachStore)
struct FromLargerVariantTests {
    private let site: Site

    init() throws { site = try Site() }

    /// The list of a program that has just started.
    private func list(
        _ encode: Encode = Encode(.png), _ decode: Decode = Decode(), then transform: (any Stage)? = nil
    ) -> ImagePipeline {
        let resources = site.resources()
        let list = ImagePipeline.returnCacheElseLoad(resources).wrapping(from: Decode.self) { _ in
            Results(resources.responses) {
                FromLargerVariant(resources.responses) {
                    decode
                    Downscale()
                    encode
                }
            }
        }
        return transform.map { list.inserting($0, before: Encode.self) } ?? list
    }

    private func load(_ side: Int, _ list: ImagePipeline) async throws -> LoadResponse {
        try await list.load(ImageRequest(site.origin.url("/a"), maxPixelSize: PixelSize(width: side, height: side)))
    }

    private func outcome(_ response: LoadResponse) -> Outcome? {
        response.trace.entries(of: FromLargerVariant.self).first?.outcome
    }

    @Test("is made of a result of twice its size, and kept like any other")
    func reduces() async throws {
        #expect(outcome(try await load(80, list())) == .miss)
        let small = try await load(40, list())
        #expect(outcome(small) == .hit)
        #expect(small.source == .disk)
        #expect(small.size == PixelSize(width: 40, height: 30))
        #expect(small.nativeSize == PixelSize(width: 160, height: 120))
        let again = try await load(40, list())
        #expect(outcome(again) == nil)
        #expect(again.encoded?.bytes == small.encoded?.bytes)
        #expect(again.nativeSize == small.nativeSize)
        #expect(site.requests == 1)
    }

    @Test("is made of the largest result")
    func largest() async throws {
        for side in [20, 120, 60] { _ = try await load(side, list()) }
        // Of 60 pixels nothing of 60 comes, of 120 it does.
        #expect(outcome(try await load(59, list())) == .hit)
    }

    @Test("is made of the original where no result is large enough, or only another list's")
    func others() async throws {
        _ = try await load(80, list())
        #expect(outcome(try await load(41, list())) == .miss)
        #expect(outcome(try await load(40, list(Encode(.webp)))) == .miss)
        #expect(outcome(try await load(30, list(Encode(.png), Decode(limits: ImageLimits(frames: 2))))) == .miss)
    }

    @Test("is made of the original where the decode may take a thumbnail, or a transform would run twice")
    func unsuitable() async throws {
        for make in [{ list(Encode(.png), Decode(quality: .fast)) }, { list(then: Flip(.horizontal)) }] {
            #expect(outcome(try await load(80, make())) == .miss)
            #expect(outcome(try await load(40, make())) == .miss)
        }
    }

    @Test("is made of a result that the origin confirms with its source, and of none that it replaced")
    func validity() async throws {
        _ = try await load(80, list())
        site.clock.advance(by: .seconds(61))
        let confirmed = try await load(40, list())
        #expect(confirmed.source == .revalidated)
        #expect(outcome(confirmed) == .hit)
        site.clock.advance(by: .seconds(61))
        let picture = try Pictures.bytes("good/jpeg-greyscale.jpg")
        site.origin.route("/a") { _ in .init(headers: [.eTag: "\"2\""], body: picture) }
        let replaced = try await load(20, list())
        #expect(outcome(replaced) == .miss)
        #expect(replaced.nativeSize == PixelSize(width: 100, height: 75))
    }

    @Test("is made of the original where the larger one can't be decoded")
    func damaged() async throws {
        let (resources, list) = (site.resources(), list())
        let first = try await load(80, list)
        let source = try #require(first.sourceKey)
        let generation = try #require(try await resources.responses.store.entries(after: 0, limit: 1).first).generation
        let size = PixelSize(width: 160, height: 120)
        await resources.responses.keep(
            EncodedImage(bytes: [1, 2, 3], size: size, nativeSize: size),
            as: VariantKey(
                source: source, request: ImageRequest(site.origin.url("/a"), maxPixelSize: size),
                list: list.signature), of: generation)
        await resources.responses.store.flush()
        let small = try await load(40, self.list())
        #expect(outcome(small) == .miss)
        #expect(small.size == PixelSize(width: 40, height: 30))
    }
}

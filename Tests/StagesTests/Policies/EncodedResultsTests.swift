import CSQLite
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("What a list encoded is kept in memory and on disk, so that it is never decoded again")
struct EncodedResultsTests {
    private let site: Site

    init() throws { site = try Site() }

    private func list(
        _ resources: PipelineResources, _ encode: Encode = Encode(.jpeg), _ policy: CachePolicy = .standard
    ) -> ImagePipeline {
        policy.pipeline(resources).encoding(encode, keptIn: resources.responses)
    }

    private func ran(_ stage: any Stage.Type, _ response: LoadResponse) -> Bool {
        !response.trace.entries(of: stage).isEmpty
    }

    @Test("A repeated request is answered from memory, and by a restarted program from disk, without Decode")
    func repeated() async throws {
        let request = ImageRequest(site.origin.url("/a"), maxPixelSize: 80)
        let resources = site.resources()
        let first = try await list(resources).load(request)
        #expect(first.source == .network)
        #expect(ran(Decode.self, first))
        let second = try await list(resources).load(request)
        #expect(second.source == .memory)
        #expect(!ran(Decode.self, second))

        let anew = site.resources()
        let third = try await list(anew).load(request)
        #expect(third.source == .disk)
        #expect(!ran(Decode.self, third))
        #expect(!ran(Encode.self, third))
        for response in [second, third] {
            #expect(response.encoded?.bytes == first.encoded?.bytes)
            #expect(response.encoded?.declaredType == "image/jpeg")
            #expect(response.size == PixelSize(width: 80, height: 60))
            #expect(response.nativeSize == PixelSize(width: 160, height: 120))
        }
        // What was found on disk is in memory from then on.
        #expect(try await list(anew).load(request).source == .memory)
        #expect(site.requests == 1)
    }

    @Test("What an encoder stage of one's own made is kept on disk too, and found there by a restarted program")
    func ownEncoder() async throws {
        let side = ClosureStage("Side", accepts: .decoded, produces: .encoded, signature: "side") { load in
            guard case .decoded(let image) = load.content else { return .skipped }
            let bytes = Array("\(image.size.width)".utf8)
            load.advance(to: .encoded(EncodedImage(bytes: bytes, declaredType: "text/plain", size: image.size)))
            return .done
        }
        let request = ImageRequest(site.origin.url("/a"), maxPixelSize: 80)
        for source in [LoadSource.network, .disk] {
            let resources = site.resources()
            let list = ImagePipeline.returnCacheElseLoad(resources).encoding(side, keptIn: resources.responses)
            let response = try await list.load(request)
            #expect(response.source == source)
            #expect(response.encoded?.bytes == Array("80".utf8))
            #expect(ran(Decode.self, response) == (source == .network))
        }
        #expect(site.requests == 1)
    }

    @Test("Each size, format and option has a result of its own, made of the one source")
    func variants() async throws {
        let resources = site.resources()
        let encodes = [Encode(.jpeg), Encode(.jpeg, quality: 50), Encode(.webp), Encode(.png)]
        for _ in 0..<2 {
            // The second round is a restarted program.
            let resources = site.resources()
            var files: Set<[UInt8]> = []
            for encode in encodes {
                for side in [40, 80] as [PixelSize] {
                    let response = try await list(resources, encode)
                        .load(ImageRequest(site.origin.url("/a"), maxPixelSize: side))
                    files.insert(try #require(response.encoded).bytes)
                }
            }
            #expect(files.count == 8)
        }
        #expect(site.requests == 1)
        await resources.responses.close()
    }

    @Test("A result that the origin confirms with its source is given again; it never outlives its source's freshness")
    func revalidated() async throws {
        let request = ImageRequest(site.origin.url("/a"))
        let first = try await list(site.resources()).load(request)
        site.clock.advance(by: .seconds(61))
        let confirmed = try await list(site.resources()).load(request)
        #expect(confirmed.source == .revalidated)
        #expect(!ran(Decode.self, confirmed))
        #expect(confirmed.encoded?.bytes == first.encoded?.bytes)
        #expect(site.requests == 2)
    }

    @Test("A source that changed takes its results along")
    func replaced() async throws {
        let pictures = [try Pictures.bytes("good/webp-lossy.webp"), try Pictures.bytes("good/jpeg-greyscale.jpg")]
        let origin = try ScriptedOrigin { request in
            let version = request.headers[.ifNoneMatch] == nil ? 0 : 1
            return .init(
                headers: [.eTag: "\"\(version)\"", .cacheControl: "max-age=60"], body: pictures[version])
        }
        let request = ImageRequest(origin.url("/a"))
        let first = try await list(site.resources()).load(request)
        #expect(first.size == PixelSize(width: 160, height: 120))
        site.clock.advance(by: .seconds(61))
        let resources = site.resources()
        let second = try await list(resources).load(request)
        #expect(second.size == PixelSize(width: 100, height: 75))
        #expect(ran(Decode.self, second))
        let third = try await list(site.resources()).load(request)
        #expect(third.source == .disk)
        #expect(third.encoded?.bytes == second.encoded?.bytes)
        await resources.responses.close()
        #expect(try rows() == 1)
    }

    @Test("Removing a source removes what was made of it")
    func removed() async throws {
        let resources = site.resources()
        let response = try await list(resources).load(ImageRequest(site.origin.url("/a")))
        #expect(await resources.responses.remove(try #require(response.sourceKey)) == 1)
        await resources.responses.close()
        #expect(try rows() == 0)
    }

    @Test("A result that is damaged on disk is made again")
    func damaged() async throws {
        let request = ImageRequest(site.origin.url("/a"))
        let resources = site.resources()
        let first = try await list(resources).load(request)
        await resources.responses.close()
        try change("UPDATE variants SET bytes = zeroblob(length(bytes))")
        let second = try await list(site.resources()).load(request)
        #expect(ran(Decode.self, second))
        #expect(second.encoded?.bytes == first.encoded?.bytes)
        #expect(!ran(Decode.self, try await list(site.resources()).load(request)))
    }

    @Test(
        "A result that the list can't have made is made again, whoever has stored it, and replaced",
        arguments: ["type = 'text/html'", "type = ''", "type = 'image/png'", "type = 'image/svg+xml'"])
    func foreign(change: String) async throws {
        let request = ImageRequest(site.origin.url("/a"))
        let resources = site.resources()
        let first = try await list(resources).load(request)
        await resources.responses.close()
        try self.change("UPDATE variants SET \(change)")
        let second = try await list(site.resources()).load(request)
        #expect(ran(Decode.self, second))
        #expect(second.encoded?.declaredType == "image/jpeg")
        #expect(second.encoded?.bytes == first.encoded?.bytes)
        #expect(!ran(Decode.self, try await list(site.resources()).load(request)))
    }

    @Test("A response has a bounded number of results, and the latest are kept")
    func bounded() async throws {
        let resources = site.resources()
        let most = SQLiteResponseStore.mostVariants
        for side in 1...(most + 3) {
            _ = try await list(resources).load(
                ImageRequest(site.origin.url("/a"), maxPixelSize: PixelSize(width: side, height: side)))
        }
        await resources.responses.close()
        #expect(try rows() == most)
        let latest = PixelSize(width: most + 3, height: most + 3)
        let response = try await list(site.resources()).load(ImageRequest(site.origin.url("/a"), maxPixelSize: latest))
        #expect(!ran(Decode.self, response))
    }

    @Test(
        "Every policy can encode",
        arguments: [
            CachePolicy.returnCacheElseLoad(), .returnCacheDontLoad(), .ignoreCache(), .useProtocol,
        ])
    func policies(_ policy: CachePolicy) async throws {
        _ = try await list(site.resources()).load(ImageRequest(site.origin.url("/a")))
        let response = try await list(site.resources(), Encode(.jpeg), policy).load(ImageRequest(site.origin.url("/a")))
        #expect(response.encoded?.declaredType == "image/jpeg")
    }

    @Test("A file on this machine is encoded as well; its result is kept in memory")
    func file() async throws {
        let resources = site.resources()
        let request = ImageRequest(.file(Pictures.path("good/webp-lossy.webp")))
        #expect(try await list(resources).load(request).source == .file)
        #expect(try await list(resources).load(request).source == .memory)
    }

    private func rows() throws -> Int {
        try SQLiteDatabase(path: site.folder + "/responses.sqlite", readOnly: true)
            .first("SELECT count(*) FROM variants") { Int($0.integer(0)) } ?? -1
    }

    private func change(_ sql: String) throws {
        try SQLiteDatabase(path: site.folder + "/responses.sqlite", readOnly: false).execute(sql)
    }
}

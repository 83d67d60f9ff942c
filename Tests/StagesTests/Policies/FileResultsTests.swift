import Foundation
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("Results of files are on disk for as long as their file is the same")
struct FileResultsTests {
    private let site: Site
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        site = try Site()
        folder = try TemporaryFolder()
        path = folder.path + "/photo"
        try write("webp-lossy.webp")
    }

    private func write(_ name: String) throws {
        try Data(Pictures.bytes("good/" + name)).write(to: URL(filePath: path))
    }

    private func list(_ resources: PipelineResources, _ first: (any Stage)? = nil) -> ImagePipeline {
        let list = ImagePipeline.returnCacheElseLoad(resources)
            .encoding(Encode(.jpeg), keptIn: resources.responses)
        return first.map { list.inserting($0, before: Encode.self) } ?? list
    }

    private func decodes(_ response: LoadResponse) -> Bool { !response.trace.entries(of: Decode.self).isEmpty }

    @Test("A restarted program finds them without Decode, in every size that was made")
    func restarted() async throws {
        let sizes = [20, 40, 80]
        let before = site.resources()
        var made: [[UInt8]] = []
        for size in sizes {
            let response = try await list(before).load(ImageRequest(.file(path), maxPixelSize: PixelSize(square: size)))
            #expect(decodes(response))
            made.append(try #require(response.encoded).bytes)
        }
        let after = site.resources()
        for (size, bytes) in zip(sizes, made) {
            let response = try await list(after).load(ImageRequest(.file(path), maxPixelSize: PixelSize(square: size)))
            #expect(!decodes(response))
            #expect(response.source == .disk)
            #expect(response.encoded?.bytes == bytes)
            #expect(response.nativeSize == PixelSize(width: 160, height: 120))
        }
        #expect(try await after.responses.entries(after: 0, limit: 10).count == 1)
    }

    @Test("A changed file is decoded again")
    func changed() async throws {
        _ = try await list(site.resources()).load(ImageRequest(.file(path)))
        try write("png-basn6a16.png")
        let response = try await list(site.resources()).load(ImageRequest(.file(path)))
        #expect(decodes(response))
        #expect(response.nativeSize == PixelSize(width: 32, height: 32))
    }

    @Test("What was made of a file that changed during the load isn't found for either state")
    func changedMeanwhile() async throws {
        let change = ClosureStage("Change", accepts: .decoded, produces: .decoded, signature: "change") { _ in
            try write("png-basn6a16.png")
            return .done
        }
        let resources = site.resources()
        _ = try await list(resources, change).load(ImageRequest(.file(path)))
        #expect(try await resources.responses.entries(after: 0, limit: 10).isEmpty)
    }

    @Test("Removing the file, its partition or everything removes them from disk")
    func removed() async throws {
        let request = ImageRequest(.file(path), partition: "user")
        let removals: [@Sendable (ImageLoader) async -> Void] = [
            { await $0.remove(request) }, { [path] in await $0.remove(URL(filePath: path)) },
            { await $0.remove(partition: "user") }, { await $0.removeAll() },
        ]
        for remove in removals {
            let resources = site.resources()
            #expect(decodes(try await list(resources).load(request)))
            #expect(try await !decodes(list(site.resources()).load(request)))
            await remove(ImageLoader(resources))
            #expect(try await resources.responses.entries(after: 0, limit: 10).isEmpty)
        }
    }

    @Test("A load that was under way when its file was removed stores none")
    func removedMeanwhile() async throws {
        let resources = site.resources()
        let loader = ImageLoader(resources)
        let request = ImageRequest(.file(path))
        let remove = ClosureStage("Remove", accepts: .decoded, produces: .decoded, signature: "remove") { _ in
            site.clock.advance(by: .seconds(1))
            await loader.remove(request)
            return .done
        }
        _ = try await list(resources, remove).load(request)
        #expect(try await resources.responses.entries(after: 0, limit: 10).isEmpty)
    }

    @Test("A lookup never takes what stands for a file for the file")
    func lookup() async throws {
        let resources = site.resources()
        _ = try await list(resources).load(ImageRequest(.file(path)))
        let key = try #require(SourceKey(ImageRequest(.file(path)), stamp: FileStatus(path: path).stamp))
        guard case .miss = try await resources.responses.lookup(key) else {
            Issue.record("It was found.")
            return
        }
    }

    @Test("A file with an identifier has none, since its key says nothing of its state")
    func identified() async throws {
        let resources = site.resources()
        _ = try await list(resources).load(ImageRequest(.file(path), identifier: "photo"))
        #expect(try await resources.responses.entries(after: 0, limit: 10).isEmpty)
    }

    @Test("They count in the statistics' bytes, which the limit is for")
    func counted() async throws {
        let cache = site.resources().responses
        let request = ImageRequest(.file(path))
        let file = try #require(SourceKey(request, stamp: "1"))
        for number in 0..<40 {
            let key = VariantKey(source: file, request: request, list: BLAKE2bDigest(of: "\(number)".utf8))
            let image = EncodedImage(
                bytes: [UInt8](repeating: UInt8(number), count: 100_000), declaredType: "image/png")
            await cache.keep(image, as: key, ofFile: file, target: "file:\(path)", readAt: site.clock.now)
        }
        let statistics = try #require(try await cache.statistics())
        #expect(statistics.entries == 1)
        #expect(3_000_000...5_000_000 ~= statistics.bytes)
    }
}

import Foundation
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Loads of parts of a picture share one decode")
struct KeepDecodedTests {
    private let memory = MemoryCache()
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/photo"
        try write("photo-12mp-baseline-420.jpg")
    }

    private func write(_ name: String) throws {
        try Data(Pictures.bytes("good/" + name)).write(to: URL(filePath: path))
    }

    /// A list for a part, reduced to fit a box.
    private func list(
        _ sources: DecodedSources?, _ crop: Crop, _ box: PixelSize, _ decode: any Stage = Decode(quality: .fast)
    ) -> ImagePipeline {
        ImagePipeline {
            ResolveIdentifier()
            ReadFile()
            if let sources { KeepDecoded(sources) { decode } } else { decode }
            crop
            Resize(box)
            Store(nil)
        }
    }

    private func decodes(_ response: LoadResponse) -> Int { response.trace.entries(of: Decode.self).count }

    /// The tiles of 512 pixels of a picture at a scale, as viewers ask for them.
    private func tiles(_ size: PixelSize, scale: Int) -> [(Crop, PixelSize)] {
        let side = 512 * scale
        return stride(from: 0, to: size.height, by: side).flatMap { y in
            stride(from: 0, to: size.width, by: side).map { x in
                let (width, height) = (min(side, size.width - x), min(side, size.height - y))
                return (
                    Crop(x: x, y: y, width: width, height: height),
                    PixelSize(width: (width + scale - 1) / scale, height: (height + scale - 1) / scale)
                )
            }
        }
    }

    @Test(
        "All tiles of a viewer take one decode at each scale, and look like those decoded alone",
        arguments: [1, 2, 4, 8])
    func tilesOfAViewer(scale: Int) async throws {
        let sources = DecodedSources(in: memory)
        let size = try #require(
            try await list(nil, Crop(x: 0, y: 0, width: 8, height: 8), PixelSize(square: 8)).load(path).nativeSize)
        var decodes = 0
        for (index, (crop, box)) in tiles(size, scale: scale).enumerated() {
            let response = try await list(sources, crop, box).load(path)
            decodes += self.decodes(response)
            let image = try #require(response.image)
            #expect(image.size == box)
            #expect(image.nativeSize == size)
            // A few of the many: each of these is decoded for itself.
            guard index % 7 == 0 else { continue }
            let alone = try #require(try await list(nil, crop, box).load(path).image)
            #expect(image.difference(from: alone) < 1.5)
        }
        #expect(decodes == 1)
    }

    @Test("Parts between the pixels of a reduced picture are cut out of a larger one")
    func oddParts() async throws {
        let sources = DecodedSources(in: memory)
        for x in [512, 514, 515] {
            let crop = Crop(x: x, y: 512, width: 1024, height: 1024)
            let box = PixelSize(square: 256)
            let image = try #require(try await list(sources, crop, box).load(path).image)
            let alone = try #require(try await list(nil, crop, box).load(path).image)
            #expect(image.difference(from: alone) < 1.5)
        }
        #expect(memory.count == 3)
    }

    @Test("Loads that come at once wait for one decode, and do without it if it is cancelled")
    func concurrent() async throws {
        let sources = DecodedSources(in: memory)
        let parts = tiles(PixelSize(width: 2048, height: 1024), scale: 1)
        let first = Task { try await list(sources, parts[0].0, parts[0].1).load(path) }
        let responses = try await withThrowingTaskGroup(of: LoadResponse.self) { group in
            for (crop, box) in parts { group.addTask { try await list(sources, crop, box).load(path) } }
            first.cancel()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        _ = await first.result
        #expect(responses.map(decodes).reduce(0, +) <= 1)
        #expect(responses.count == 8)
    }

    @Test("Of formats that decode to no smaller size for less work, the whole picture is kept once")
    func otherFormats() async throws {
        try write("webp-lossy.webp")
        let sources = DecodedSources(in: memory)
        var decodes = 0
        for scale in [1, 2] {
            let crop = Crop(x: 64, y: 64, width: 32 * scale, height: 32 * scale)
            let response = try await list(sources, crop, PixelSize(square: 32)).load(path)
            decodes += self.decodes(response)
            let alone = try await list(nil, crop, PixelSize(square: 32)).load(path)
            #expect(try #require(response.image).difference(from: #require(alone.image)) < 2)
        }
        #expect(decodes == 1)
    }

    @Test("A changed file is decoded again")
    func changed() async throws {
        let sources = DecodedSources(in: memory)
        let (crop, box) = (Crop(x: 0, y: 0, width: 32, height: 32), PixelSize(square: 32))
        _ = try await list(sources, crop, box).load(path)
        try write("webp-lossy.webp")
        let response = try await list(sources, crop, box).load(path)
        #expect(decodes(response) == 1)
        #expect(response.nativeSize == PixelSize(width: 160, height: 120))
    }

    @Test("What is removed by its file or its key isn't kept")
    func removed() async throws {
        let sources = DecodedSources(in: memory)
        let (crop, box) = (Crop(x: 0, y: 0, width: 32, height: 32), PixelSize(square: 32))
        let loader = ImageLoader(
            PipelineResources(
                memory: memory, responses: HTTPCache(inMemory: 1_000_000), client: ClosureClient { _ in [] }))
        for remove in [
            { await loader.remove(URL(filePath: path)) }, { await loader.remove(ImageRequest(.file(path))) },
        ] as [@Sendable () async -> Void] {
            _ = try await loader.load(ImageRequest(.file(path)), through: list(sources, crop, box))
            #expect(memory.count == 1)
            await remove()
            #expect(memory.count == 0)
        }
    }

    @Test("A picture that would fill the cache, a whole picture and one with a size of its own are decoded as ever")
    func others() async throws {
        let (crop, box) = (Crop(x: 0, y: 0, width: 32, height: 32), PixelSize(square: 32))
        let small = MemoryCache(byteLimit: 40_000_000)
        #expect(decodes(try await list(DecodedSources(in: small), crop, box).load(path)) == 1)
        #expect(small.count == 0)
        let sources = DecodedSources(in: memory)
        let whole = ImagePipeline {
            ResolveIdentifier()
            ReadFile()
            KeepDecoded(sources) { Decode() }
            Resize(PixelSize(square: 32))
            Store(nil)
        }
        #expect(decodes(try await whole.load(path)) == 1)
        let sized = ImageRequest(.file(path), maxPixelSize: PixelSize(square: 64))
        #expect(decodes(try await list(sources, Crop(aspect: PixelSize(width: 1, height: 1)), box).load(sized)) == 1)
        #expect(memory.count == 0)
    }
}

extension ImagePipeline {
    fileprivate func load(_ path: String) async throws -> LoadResponse { try await load(ImageRequest(.file(path))) }
}

import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@Suite("What a final product is known by")
struct VariantKeyTests {
    private func key(
        source: String = "cat", list: String = "list", _ change: (inout ImageRequest) -> Void = { _ in }
    ) throws -> VariantKey {
        var request = try ImageRequest.at()
        change(&request)
        return VariantKey(
            source: SourceKey(digest: BLAKE2bDigest(of: source)), request: request, list: BLAKE2bDigest(of: list))
    }

    @Test("Another source, size, list or header makes another product")
    func anotherSource() throws {
        let keys = try [
            key(),
            key(source: "dog"),
            key(list: "another"),
            key { $0.maxPixelSize = 300 },
            key { $0.maxPixelSize = 0 },
            key { $0.maxPixelSize = PixelSize(width: 300, height: 200) },
            key { $0.maxPixelSize = PixelSize(width: 200, height: 300) },
            key { $0.headers[.accept] = "image/webp" },
            key { $0.headers[.accept] = "image/avif" },
            key { $0.headers[.acceptLanguage] = "image/webp" },
        ]
        #expect(Set(keys).count == keys.count)
        #expect(Set(keys.map(\.description)).count == keys.count)
    }

    @Test("The priority and the expiry leave the product what it is")
    func priorityExpiry() throws {
        #expect(try key { $0.priority = .high } == key())
        #expect(try key { $0.expiry = .never } == key())
    }

    @Test("A header's name counts whatever its case")
    func headerName() throws {
        let upper = try #require(HTTPField.Name("X-Size"))
        let lower = try #require(HTTPField.Name("x-size"))
        #expect(try key { $0.headers[upper] = "1" } == key { $0.headers[lower] = "1" })
    }

    @Test("A load has no keys until a stage identifies it, then both")
    func loadKeys() async throws {
        let source = SourceKey(digest: BLAKE2bDigest(of: "cat"))
        let before = RecordingStage("Before", accepts: .empty)
        let after = RecordingStage("After", accepts: .empty)
        let pipeline = ImagePipeline {
            before
            StubStage("Resolve", accepts: .empty, produces: .empty) { load in
                load.identify(as: source)
                return .done
            }
            after
            StubStage.giving("Answer", .ready())
        }
        let response = try await pipeline.load(.at())
        #expect(before.loads.first?.sourceKey == nil)
        #expect(before.loads.first?.variantKey == nil)
        #expect(after.loads.first?.sourceKey == source)
        let request = try ImageRequest.at()
        #expect(
            after.loads.first?.variantKey == VariantKey(source: source, request: request, list: pipeline.signature))
        #expect(response.sourceKey == source)
    }
}

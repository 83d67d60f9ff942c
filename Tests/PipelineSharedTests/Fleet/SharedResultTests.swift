import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("Results that machines share", .withRedis, .timeLimit(.minutes(5)))
struct SharedResultTests {
    /// Counts the results that are made.
    private struct CountedEncode: Stage {
        let accepts: Phases = .decoded
        let produces: Phases = .encoded
        let signature: String? = "counted"
        let count: Lock<Int>

        func run(_ load: inout Load) async throws -> Outcome {
            count.withLock { $0 += 1 }
            return try await Encode(.png).run(&load)
        }
    }

    private let count = Lock(0)
    private var encodes: Int { count.withLock { $0 } }

    private func load(_ url: URL, on machine: FleetMachine) async throws -> [UInt8] {
        let pipeline = ImagePipeline.returnSharedElseLoad(
            machine.resources, machine.fleet, encoding: CountedEncode(count: count))
        let response = try await pipeline.load(
            ImageRequest(url, maxPixelSize: PixelSize(width: 32, height: 32)))
        guard case .bytes(let file) = response.product else { throw Unexpected() }
        return file.bytes
    }

    @Test("are made on one machine, also if all want them at the same time")
    func once() async throws {
        let site = try FleetSite()
        let machines = (0..<3).map { _ in site.machine() }
        let url = site.origin.url("/cat.png")
        let files = try await withThrowingTaskGroup { group in
            for machine in machines { group.addTask { try await load(url, on: machine) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(files).count == 1)
        #expect(try await load(url, on: site.machine()) == files[0])
        #expect(encodes == 1)
        #expect(site.requests == 1)
    }

    @Test("of another image under the same URL are others")
    func changed() async throws {
        let version = Lock(UInt8(0))
        let site = try FleetSite { _ in
            let gray = version.withLock {
                $0 += 1; return $0
            }
            return .init(
                headers: [.cacheControl: "max-age=600"],
                body: Picture.png(PixelSize(width: 64, height: 48), with: [gray]))
        }
        let url = site.origin.url("/cat.png")
        let first = try await load(url, on: site.machine())
        let machine = site.machine()
        await machine.fleet.remove(url)
        #expect(try await load(url, on: machine) != first)
        #expect(encodes == 2)
    }

    @Test(
        "that the list can't have made are removed, made again, and never kept",
        arguments: [
            ("text/html", "<script>"), ("image/png", "<script>"), ("image/svg+xml", "<svg/>"), (nil, "<script>"),
        ])
    func poisoned(type: String?, bytes: String) async throws {
        let site = try FleetSite()
        let url = site.origin.url("/cat.png")
        let first = try await load(url, on: site.machine())
        let inspector = site.machine()
        let redis = inspector.fleet.store.scripts.connection
        let key = try #require(try await redis.send("KEYS", "*:c:*").array?.first?.text)
        let name = String(key[try #require(key.firstRange(of: ":c:")).upperBound...])
        let size = PixelSize(width: 32, height: 24)
        let poison = EncodedImage(bytes: Array(bytes.utf8), declaredType: type, size: size, nativeSize: size)
        let sealed = CheckedValue.seal(PackedImage.pack(poison), as: name)
        _ = try await redis.send([Array("SET".utf8), Array(key.utf8), sealed])
        let machine = site.machine()
        #expect(try await load(url, on: machine) == first)
        #expect(try await load(url, on: machine) == first)
        #expect(encodes == 2)
        let shared = try await redis.send("GET", key).bytes.flatMap { CheckedValue.open($0, as: name) }
        #expect(shared.flatMap { PackedImage.unpack($0) }?.bytes == first)
        withExtendedLifetime(inspector) {}
    }

    @Test("of responses that are private are made by each machine")
    func privateResponses() async throws {
        let site = try FleetSite([.cacheControl: "private, max-age=600"])
        let machines = [site.machine(), site.machine()]
        for machine in machines { _ = try await load(site.origin.url("/cat.png"), on: machine) }
        #expect(encodes == 2)
        let names = try await machines[0].fleet.store.scripts.connection.send("KEYS", "*:v:*").array
        #expect(names == [])
    }
}

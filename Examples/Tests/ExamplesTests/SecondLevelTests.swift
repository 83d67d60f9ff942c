import Foundation
import PipelineTesting
import Stages
import Testing

@testable import SecondLevel

@Suite("A second-level cache")
final class SecondLevelTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")
    private let clock = ManualClock()
    private let origin: ScriptedOrigin

    init() throws {
        let picture = Picture.png(PixelSize(width: 3, height: 2))
        origin = try ScriptedOrigin { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func machine(_ name: String) throws -> ImagePipeline {
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: folder.appending(path: name).path, clock: clock),
            client: CurlClient(.init(addresses: .any)))
        return try SecondLevel.machine(resources, sharing: folder.appending(path: "shared"), clock: clock)
    }

    @Test("its folder keeps to the contract of stores")
    func contract() async throws {
        try await StoreSpec([]) { [folder] _ in
            try DirectoryTier(folder.appending(path: UUID().uuidString))
        }.check()
    }

    @Test("of machines that want one image at the same time, one asks the origin")
    func lease() async throws {
        let gate = try ScriptedOrigin.Gate()
        let picture = Picture.png(PixelSize(width: 3, height: 2))
        origin.route("/held.png") { _ in
            .init(headers: [.cacheControl: "max-age=60"], body: picture).held(until: gate)
        }
        let request = ImageRequest(origin.url("/held.png"))
        let machines = try (1...4).map { try machine("\($0)") }
        try await withThrowingTaskGroup { group in
            for machine in machines { group.addTask { try await machine.load(request).source } }
            await origin.until { !$0.requests.isEmpty }
            gate.open()
            var sources: [LoadSource: Int] = [:]
            for try await source in group { sources[source, default: 0] += 1 }
            #expect(sources[.network] == 1)
            #expect(sources[.shared] == 3)
        }
        #expect(origin.log.requests.count == 1)
    }

    @Test("a machine that dies with a lease leaves it to the next")
    func dead() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let turn = try await DirectoryTier(URL(filePath: path)).leases.turn("x", patience: .seconds(5)) { false }
            guard case .hold = turn else { exit(1) }
            kill(getpid(), SIGKILL)
        }
        let next = try await DirectoryTier(folder).leases.turn("x", patience: .seconds(5)) { false }
        guard case .hold = next else {
            Issue.record("The next has no lease.")
            return
        }
    }

    @Test("it gives one machine what another has fetched, until that expires")
    func shared() async throws {
        let request = ImageRequest(origin.url("/cat.png"))
        #expect(try await machine("first").load(request).source == .network)
        clock.advance(by: .seconds(30))
        let second = try machine("second")
        let found = try await second.load(request)
        #expect((found.source, found.size?.width) == (.shared, 3))
        #expect(origin.log.requests.count == 1)

        clock.advance(by: .seconds(29))
        #expect(try await second.load(request).source == .memory)
        #expect(origin.log.requests.count == 1)
        clock.advance(by: .seconds(1))
        #expect(try await second.load(request).source == .network)
        #expect(origin.log.requests.count == 2)
    }

    @Test("what the second machine stored from it expires on its disk as well")
    func stored() async throws {
        let request = ImageRequest(origin.url("/cat.png"))
        _ = try await machine("first").load(request)
        clock.advance(by: .seconds(50))
        _ = try await machine("second").load(request)
        clock.advance(by: .seconds(9))
        #expect(try await machine("second").load(request).source == .disk)
        clock.advance(by: .seconds(1))
        #expect(try await machine("second").load(request).source == .network)
        #expect(origin.log.requests.count == 2)
    }
}

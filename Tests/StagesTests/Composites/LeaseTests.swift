import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@testable import PipelineHTTP

/// Loaders with caches and flights of their own over one folder know each other by the folder's locks alone, as processes
/// do: a lock belongs to the open file.
@Suite("Fetches shared among processes")
struct LeaseTests {
    private let site: Site
    private let gate: ScriptedOrigin.Gate

    init() throws {
        site = try Site()
        gate = try ScriptedOrigin.Gate()
        try hold("/held", [.cacheControl: "max-age=60"])
    }

    /// Serves a picture that arrives once the gate is open.
    private func hold(_ path: String, _ headers: HTTPFields) throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route(path) { [gate] _ in .init(headers: headers, body: picture).held(until: gate) }
    }

    /// What a process has: a cache object and flights of its own.
    private func process() -> PipelineResources {
        PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: site.folder, clock: site.clock), flights: Flights(),
            client: site.client)
    }

    private func load(_ path: String, _ process: PipelineResources) -> Task<LoadResponse, any Error> {
        let request = ImageRequest(site.origin.url(path))
        return Task { try await ImagePipeline.returnCacheElseLoad(process).load(request) }
    }

    @Test("What another process is fetching is waited for and then found on disk")
    func waitsAndFinds() async throws {
        let processes = [process(), process(), process()]
        let first = load("/held", processes[0])
        await site.origin.until { $0.requests.count == 1 }
        let others = processes[1...].map { load("/held", $0) }
        for process in processes[1...] { await process.responses.fileLeases.reaches(1) }
        gate.open()
        #expect(try await first.value.source == .network)
        for other in others {
            let response = try await other.value
            #expect(response.source == .disk)
            #expect(response.size == PixelSize(width: 160, height: 120))
        }
        #expect(site.requests == 1)
    }

    @Test("Eight processes that ask at once make one request")
    func atOnce() async throws {
        gate.open()
        let loads = (0..<8).map { _ in load("/held", process()) }
        for load in loads { #expect(try await load.value.size == PixelSize(width: 160, height: 120)) }
        #expect(site.requests == 1)
    }

    @Test("Other sources and other headers are not waited for")
    func independent() async throws {
        let (one, other) = (process(), process())
        let held = load("/held", one)
        await site.origin.until { $0.requests.count == 1 }
        #expect(try await load("/a", other).value.source == .network)
        var request = ImageRequest(site.origin.url("/held"))
        request.headers[.accept] = "image/webp"
        let differing = Task { [request] in try await ImagePipeline.returnCacheElseLoad(other).load(request) }
        await site.origin.until { $0.requests.count == 3 }
        gate.open()
        #expect(try await held.value.source == .network)
        #expect(try await differing.value.source == .network)
    }

    @Test("What may not be stored is fetched by all who waited, none behind another")
    func notStored() async throws {
        try hold("/private", [.cacheControl: "no-store"])
        let second = try ScriptedOrigin.Gate()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        let count = Counter()
        site.origin.route("/private") { [gate] _ in
            .init(headers: [.cacheControl: "no-store"], body: picture).held(
                until: count.increment() == 1 ? gate : second)
        }
        let processes = [process(), process(), process()]
        let first = load("/private", processes[0])
        await site.origin.until { $0.requests.count == 1 }
        let others = processes[1...].map { load("/private", $0) }
        for process in processes[1...] { await process.responses.fileLeases.reaches(1) }
        gate.open()
        _ = try await first.value
        // Both ask before either is answered.
        await site.origin.until { $0.requests.count == 3 }
        second.open()
        for other in others { #expect(try await other.value.source == .network) }
    }

    @Test("A fetch that fails lets the others try")
    func failure() async throws {
        let count = Counter()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/flaky") { [gate] _ in
            count.increment() == 1 ? .init(status: 503).held(until: gate) : .init(body: picture)
        }
        let (one, other) = (process(), process())
        let first = load("/flaky", one)
        await site.origin.until { $0.requests.count == 1 }
        let second = load("/flaky", other)
        await other.responses.fileLeases.reaches(1)
        gate.open()
        await #expect(throws: LoadError.self) { try await first.value }
        #expect(try await second.value.source == .network)
    }

    @Test("A load that is cancelled while it waits ends at once and leaves nothing behind")
    func cancellation() async throws {
        let (one, other) = (process(), process())
        let first = load("/held", one)
        await site.origin.until { $0.requests.count == 1 }
        let second = load("/held", other)
        await other.responses.fileLeases.reaches(1)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        await other.flights.drain()
        #expect(other.responses.fileLeases.waiting == 0)
        gate.open()
        #expect(try await first.value.source == .network)
    }

    @Test("A holder that is cancelled lets one of the others fetch")
    func holderCancelled() async throws {
        let (one, other) = (process(), process())
        let first = load("/held", one)
        await site.origin.until { $0.requests.count == 1 }
        let second = load("/held", other)
        await other.responses.fileLeases.reaches(1)
        first.cancel()
        await site.origin.until { $0.requests.count == 2 }
        gate.open()
        #expect(try await second.value.source == .network)
    }

    @Test("A process that dies loses its lease; one of those who wait fetches for all")
    func death() async throws {
        gate.open()
        let url = site.origin.url("/held").absoluteString
        let holder = try Process.run(CacheTrials.executable, ["hold", site.folder, url], saying: "held")
        let processes = [process(), process()]
        let loads = processes.map { load("/held", $0) }
        for process in processes { await process.responses.fileLeases.reaches(1) }
        #expect(site.requests == 0)
        kill(holder.processIdentifier, SIGKILL)
        let sources = [try await loads[0].value.source, try await loads[1].value.source]
        #expect(Set(sources) == [.network, .disk])
        #expect(site.requests == 1)
    }

    @Test("A holder that neither ends nor dies is waited for so long and no longer")
    func patience() async throws {
        let (one, other) = (process(), process())
        let first = load("/held", one)
        await site.origin.until { $0.requests.count == 1 }
        let impatient = ImagePipeline {
            ResolveIdentifier()
            Lease(other.responses, patience: .zero) { Fetch(other.client) }
            Decode()
            Store(nil, other.responses)
        }
        let request = ImageRequest(site.origin.url("/held"))
        let second = Task { try await impatient.load(request) }
        await site.origin.until { $0.requests.count == 2 }
        gate.open()
        #expect(try await second.value.source == .network)
        #expect(try await first.value.source == .network)
    }

    @Test("What another process has confirmed meanwhile counts as confirmed")
    func confirmed() async throws {
        let (one, other) = (process(), process())
        #expect(try await load("/a", one).value.source == .network)
        site.clock.advance(by: .seconds(61))
        site.origin.route("/a") { [gate] _ in
            .init(status: 304, headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"]).held(until: gate)
        }
        // Nothing of it is in memory.
        let first = load("/a", process())
        await site.origin.until { $0.requests.count == 2 }
        let second = load("/a", other)
        await other.responses.fileLeases.reaches(1)
        gate.open()
        #expect(try await first.value.source == .revalidated)
        #expect(try await second.value.source == .revalidated)
        #expect(site.requests == 2)
    }

    @Test("Where the cache can't be used there are no leases, and loads go on")
    func unusable() async throws {
        #expect(FileManager.default.createFile(atPath: site.folder, contents: Data()))
        gate.open()
        #expect(try await load("/held", process()).value.source == .network)
    }

    @Test("Each lease is an open file, of which there is a limited number; releasing one makes room")
    func slots() {
        let slots = LeaseSlots(limit: 2)
        var held = [slots.take(), slots.take()]
        #expect(held.allSatisfy { $0 != nil })
        #expect(slots.take() == nil)
        held.removeLast()
        #expect(slots.take() != nil)
    }

    @Test("Where no place is left for another lease, loads fetch without one")
    func noPlace() async throws {
        let process = self.process()
        var slots: [LeaseSlot] = []
        while let slot = process.responses.fileLeases.takeSlot() { slots.append(slot) }
        #expect(slots.count == 256)
        #expect(try await load("/a", process).value.source == .network)
        #expect(try await load("/a", process).value.source == .memory)
    }
}

extension FileLeases {
    /// Gives other tasks their turn until this many wait.
    func reaches(_ wanted: Int) async { while waiting < wanted { await Task.yield() } }
}

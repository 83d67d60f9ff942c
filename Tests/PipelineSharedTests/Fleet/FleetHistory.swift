import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP
@testable import PipelineShared
@testable import Stages

/// Machines that share a tier, each with a disk, behind a link of its own and with a clock that is off, and what they may
/// still serve. A machine serves at least the version that was published when a removal began that was acknowledged.
///
/// The machines' clocks and the server's are real, or go by one that is advanced, so that what is stored expires. Connections
/// are real in both, and so are their time limits.
final class FleetHistory {
    fileprivate enum Step: Sendable {
        case load(Int, tags: Set<String>)
        case remove(Int)
        case removeTag(String)
        case publish(Int)
    }

    fileprivate static let pictures = 5
    private static let tags = ["a", "b", "c"]
    private static let limits = RedisLimits(request: .milliseconds(200), connecting: .milliseconds(200))

    private let site: FleetSite
    private let relays: [Relay]
    private let folders: [String]
    private let clocks: [SkewedClock]
    /// The clock by which all go; `nil` for the system's.
    private let manual: ManualClock?
    private var machines: [FleetMachine] = []
    private var random: SeededGenerator
    private let ledger: Ledger
    /// The pictures to which a load has given a tag since it was last removed.
    private var tagged: [String: Set<Int>] = [:]

    init(seed: UInt64, isManual: Bool = false) async throws {
        random = SeededGenerator(seed: seed)
        manual = isManual ? ManualClock() : nil
        let versions = Lock([Int](repeating: 1, count: Self.pictures))
        site = try FleetSite { request in
            let picture = Int(request.path.dropFirst().prefix { $0.isNumber }) ?? 0
            let version = versions.withLock { $0[picture] }
            let headers: HTTPFields = [.eTag: "\"\(version)\"", .cacheControl: "max-age=600"]
            if request.headers[.ifNoneMatch] == headers[.eTag] { return .init(status: 304, headers: headers) }
            return .init(headers: headers, body: Picture.png(PixelSize(width: 8 + version, height: 8)))
        }
        ledger = Ledger(site: site, versions: versions)
        relays = try (0..<3).map { [site] _ in try Relay(to: site.server) }
        folders = relays.map { _ in NSTemporaryDirectory() + "pipeline-history-\(UUID().uuidString.prefix(8))" }
        var clocks: [SkewedClock] = []
        for _ in relays {
            clocks.append(
                SkewedClock(base: manual ?? SystemClock(), seconds: Double.random(in: -2...2, using: &random)))
        }
        self.clocks = clocks
        try passTime(.zero)
        for index in relays.indices { machines.append(try await start(index)) }
    }

    /// Ends all machines.
    func end() async {
        for index in machines.indices { await stop(index) }
        for folder in folders { try? FileManager.default.removeItem(atPath: folder) }
    }

    private func start(_ index: Int) async throws -> FleetMachine {
        let events = EventRecorder()
        let adaptation = manual == nil ? RedisScripts.adaptation : RedisServer.withClockOfKey
        let fleet = RedisScripts.$adaptation.withValue(adaptation) {
            Fleet(
                relays[index].address, connecting: Self.limits, clock: clocks[index], observers: [events],
                logger: events.logger)
        }
        // A clock that is advanced doesn't wait for work that is done meanwhile.
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: folders[index], clock: clocks[index]),
            client: CurlClient(.local), limits: ImageLimits(time: nil))
        let machine = FleetMachine(site: site, fleet: fleet, resources: resources, events: events)
        machine.fleet.join(machine.resources)
        return machine
    }

    private func stop(_ index: Int) async {
        await machines[index].fleet.shutdown()
        await machines[index].resources.responses.close()
    }

    private func passTime(_ duration: Duration) throws { try Self.pass(duration, of: manual, site) }

    private static func pass(_ duration: Duration, of clock: ManualClock?, _ site: FleetSite) throws {
        guard let clock else { return }
        clock.advance(by: duration)
        try site.server.setTime(clock.now)
    }

    /// Lets time pass until the task is cancelled, so that whoever waits for a message that was lost stops waiting.
    private static func passTime(of clock: ManualClock, _ site: FleetSite) async throws {
        while true {
            try await clock.sleepers(1, includingLimits: true)
            try pass(.milliseconds(20), of: clock, site)
            await Task.yield()
        }
    }

    private func startTime() -> Task<Void, any Error>? {
        manual.map { [site] clock in Task { try await Self.passTime(of: clock, site) } }
    }

    // MARK: Rounds

    /// Lets something fail or heal, then takes some steps at the same time.
    func round() async throws {
        let time = startTime()
        defer { time?.cancel() }
        for relay in relays where Int.random(in: 0..<6, using: &random) == 0 {
            relay.setCut(Bool.random(using: &random))
        }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: _ = try? site.server.send("CLIENT KILL TYPE pubsub")
        case 1: _ = try? site.server.send("CLIENT KILL TYPE normal")
        case 2:
            let index = Int.random(in: machines.indices, using: &random)
            await stop(index)
            machines[index] = try await start(index)
        default: break
        }
        // Some stored responses expire between rounds, and leases end.
        try passTime(.seconds(Int.random(in: 0...300, using: &random)))
        // A server that is stopped can't be told the time.
        let isStopped = manual == nil && Int.random(in: 0..<10, using: &random) == 0
        if isStopped { site.server.setStopped(true) }
        let steps = (0..<8).map { _ in (Int.random(in: machines.indices, using: &random), step()) }
        let known = tagged
        await withTaskGroup(of: (String, Int)?.self) { group in
            for (index, step) in steps {
                let machine = machines[index]
                group.addTask { [ledger] in
                    let tagged = await ledger.take(step, on: machine, known)
                    // A server that is stopped wouldn't reply.
                    guard !isStopped, let (tag, picture) = tagged else { return nil }
                    return ledger.knows(tag, of: picture, machine.fleet.store.keys) ? tagged : nil
                }
            }
            for await case let (tag, picture)? in group { tagged[tag, default: []].insert(picture) }
        }
        for case (_, .removeTag(let tag)) in steps { tagged[tag] = nil }
        if isStopped { site.server.setStopped(false) }
    }

    private func step() -> Step {
        let picture = Int.random(in: 0..<Self.pictures, using: &random)
        let tag = Self.tags.randomElement(using: &random) ?? ""
        return switch Int.random(in: 0..<10, using: &random) {
        case 0: .remove(picture)
        case 1: .removeTag(tag)
        case 2: .publish(picture)
        default: .load(picture, tags: Bool.random(using: &random) ? [tag] : [])
        }
    }

    // MARK: The end

    /// Lets everything heal, and checks what the machines serve: first nothing that was removed, then the newest version once
    /// all is removed.
    func settle() async throws {
        let time = startTime()
        defer { time?.cancel() }
        for relay in relays { relay.setCut(false) }
        for machine in machines {
            let isReady = try await machine.fleet.ready(within: .seconds(manual == nil ? 60 : 10_000))
            try #require(isReady)
        }
        try await check("though it was removed")
        ledger.versions.withLock { versions in for picture in versions.indices { versions[picture] += 1 } }
        // After an outage, a machine uses Redis again some seconds later.
        for picture in 0..<Self.pictures {
            while await !machines[0].fleet.remove(ledger.url(picture)) { try Task.checkCancellation() }
        }
        let newest = ledger.versions.withLock(\.self)
        ledger.floors.withLock { $0 = newest }
        try await check("though all were removed")
    }

    /// Waits until each machine has heard of every removal, then looks at all pictures once more.
    private func check(_ why: String) async throws {
        let end = ContinuousClock.now + .seconds(10)
        for isPatient in [true, false] {
            for (index, machine) in machines.enumerated() {
                for (picture, floor) in ledger.floors.withLock(\.self).enumerated() {
                    var version = try await self.version(of: picture, on: machine)
                    while isPatient, version < floor, ContinuousClock.now < end {
                        await Task.yield()
                        version = try await self.version(of: picture, on: machine)
                    }
                    #expect(
                        version >= floor,
                        "Machine \(index) serves version \(version) of picture \(picture), \(why) in version \(floor)")
                }
            }
        }
    }

    private func version(of picture: Int, on machine: FleetMachine) async throws -> Int {
        try await machine.load(ledger.url(picture)).image.size.width - 8
    }
}

/// What was published, and what may still be served.
private struct Ledger: Sendable {
    let site: FleetSite
    /// The version of each picture, which is in its width.
    let versions: Lock<[Int]>
    /// The oldest version of each picture that may be served.
    let floors = Lock([Int](repeating: 1, count: FleetHistory.pictures))

    /// - Parameter known: The tags that the pictures had before the round.
    /// - Returns: A tag that was given to a picture.
    func take(_ step: FleetHistory.Step, on machine: FleetMachine, _ known: [String: Set<Int>]) async -> (String, Int)?
    {
        switch step {
        case .publish(let picture): versions.withLock { $0[picture] += 1 }
        case .load(let picture, let tags):
            do {
                _ = try await machine.loader.load(url(picture), options: LoadOptions(tags: tags))
                return tags.first.map { ($0, picture) }
            } catch { Issue.record("A load failed: \(error)") }
        case .remove(let picture):
            let version = versions.withLock { $0[picture] }
            if await machine.fleet.remove(url(picture)) { raise([picture], to: [version]) }
        case .removeTag(let tag):
            let pictures = Array(known[tag] ?? [])
            let published = versions.withLock { versions in pictures.map { versions[$0] } }
            if await machine.fleet.remove(tag: tag) { raise(pictures, to: published) }
        }
        return nil
    }

    private func raise(_ pictures: [Int], to versions: [Int]) {
        floors.withLock { floors in
            for (picture, version) in zip(pictures, versions) { floors[picture] = max(floors[picture], version) }
        }
    }

    /// Whether Redis knows that a picture has a tag. Otherwise, other machines can't.
    func knows(_ tag: String, of picture: Int, _ keys: FleetKeys) -> Bool {
        let target = url(picture).absoluteString
        let list = keys.taggedURLs + keys.epoch(ResponseTags.target(tag))
        return (try? site.server.send("SISMEMBER \(list) \"\(keys.epoch(target)) \(target)\"")) == ":1"
    }

    func url(_ picture: Int) -> URL { site.origin.url("/\(picture).png") }
}

/// A clock with another time of day.
private struct SkewedClock: LoadClock {
    let base: any LoadClock
    let seconds: Double

    var now: Date { base.now + seconds }
    var uptimeNanoseconds: Int64 { base.uptimeNanoseconds }

    func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
    func sleep(untilLimit duration: Duration) async throws { try await base.sleep(untilLimit: duration) }
}

import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineShared
import PipelineTesting
import Stages

/// Machines that are cut off while images are removed, under a load of other images: what they serve meanwhile and afterwards.
/// And a burst of removals: how long a machine takes to apply them.
struct RemovalTrial {
    private static let removed = 10

    /// An origin whose images have the number of a version in their colour.
    private final class Site: Sendable {
        let version = Lock(UInt8(1))
        let origin: ScriptedOrigin
        let server: RedisServer

        init(in namespace: NetworkNamespace?) throws {
            origin = try ScriptedOrigin { [version] request in
                let version = request.path.hasPrefix("/cold") ? 0 : version.withLock(\.self)
                let headers: HTTPFields = [.cacheControl: "max-age=3600", .eTag: "\"\(version)\""]
                if request.headers[.ifNoneMatch] == headers[.eTag] { return .init(status: 304, headers: headers) }
                return .init(
                    headers: headers,
                    body: Picture.png(PixelSize(width: 32, height: 24), with: [version * 100, 50, 50]))
            }
            server = try RedisServer(in: namespace)
        }

        var urls: [URL] { (0..<RemovalTrial.removed).map { origin.url("/\($0).png") } }
    }

    /// One machine, and whether it says that it has heard of everything.
    private final class Machine: Sendable {
        let isCertain = Lock(false)
        let fleet: Fleet
        let loader: ImageLoader
        let resources: PipelineResources

        init(_ address: RedisAddress, folder: String?) throws {
            let certain = isCertain
            fleet = Fleet(address, observers: [Observer(isCertain: certain)])
            resources = PipelineResources(
                memory: MemoryCache(),
                responses: folder.map { HTTPCache(folder: $0) } ?? HTTPCache(inMemory: 50_000_000),
                client: CurlClient(.init(addresses: .any)))
            loader = try ImageLoader(resources, arrangement: fleet.arrangement)
            fleet.join(resources)
        }

        private struct Observer: FleetObserver {
            let isCertain: Lock<Bool>

            func observe(_ event: FleetEvent) {
                switch event {
                case .listening: isCertain.withLock { $0 = true }
                case .deaf: isCertain.withLock { $0 = false }
                default: break
                }
            }
        }

        /// The version of an image, and whether it was served without being confirmed.
        func version(of url: URL) async throws -> (version: UInt8, isStored: Bool) {
            let response = try await loader.load(url)
            let version = try response.image.withPixels { $0.first ?? 0 }
            return (version / 100, [.memory, .disk].contains(response.source))
        }
    }

    /// Cuts machines off for some seconds.
    /// - Parameter hasDisk: Whether each has a folder.
    static func cutOff(seconds: Double, rounds: Int, hasDisk: Bool, in folder: String) async throws -> String {
        let namespace = try NetworkNamespace()
        let site = try Site(in: namespace)
        let machines = try (0..<4).map { try Machine(site.server.address, folder: hasDisk ? "\(folder)/\($0)" : nil) }
        let admin = Fleet(RedisAddress(.socket(path: site.server.socket)))
        for machine in machines {
            guard try await machine.fleet.ready(within: .seconds(30)) else {
                throw TrialFailure("a machine isn't ready")
            }
        }
        var (late, uncertain, during, loads) = (0, 0, 0, 0)
        for round in 0..<rounds {
            for machine in machines { for url in site.urls { _ = try await machine.loader.load(url) } }
            let cold = Task {
                for number in 0... {
                    try Task.checkCancellation()
                    for machine in machines {
                        _ = try? await machine.loader.load(site.origin.url("/cold-\(round)-\(number).png"))
                    }
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            let before = site.version.withLock(\.self)
            try namespace.setCut(true)
            let start = ContinuousClock.now
            for url in site.urls { guard await admin.remove(url) else { throw TrialFailure("a removal isn't told") } }
            site.version.withLock { $0 = before == 1 ? 2 : 1 }
            var healed: ContinuousClock.Instant?
            while healed.map({ ContinuousClock.now - $0 < .seconds(6) }) ?? true {
                if healed == nil, ContinuousClock.now - start >= .seconds(seconds) {
                    try namespace.setCut(false)
                    healed = .now
                }
                for machine in machines {
                    let wasCertain = machine.isCertain.withLock(\.self)
                    let asked = ContinuousClock.now
                    let (version, isStored) = try await machine.version(of: site.urls[loads % removed])
                    loads += 1
                    guard version == before else { continue }
                    during += 1
                    if let healed, asked - healed > .seconds(2) { late += 1 }
                    if !wasCertain, !machine.isCertain.withLock(\.self), isStored { uncertain += 1 }
                }
                // Other trials share the processors.
                try await Task.sleep(for: .milliseconds(5))
            }
            cold.cancel()
            _ = await cold.result
        }
        for machine in machines {
            await machine.fleet.shutdown()
            await machine.resources.responses.close()
        }
        guard late == 0, uncertain == 0 else {
            throw TrialFailure(
                "\(late) removed images were served later than 2 s, \(uncertain) as fresh while uncertain")
        }
        return "survived \(rounds) outages of \(seconds) s \(hasDisk ? "with" : "without") disks: \(loads) loads, "
            + "\(during) of a removed image before the machine knew of the outage, or within 2 s of its end"
    }

    /// Removes many URLs, of which a machine has each in memory and on disk.
    static func burst(_ count: Int, in folder: String) async throws -> String {
        let site = try Site(in: nil)
        let machine = try Machine(site.server.address, folder: folder)
        guard try await machine.fleet.ready(within: .seconds(30)) else { throw TrialFailure("the machine isn't ready") }
        let urls = (0..<count).map { site.origin.url("/\($0).png") }
        for url in urls { _ = try await machine.loader.load(url) }
        let admin = Fleet(site.server.address)
        let start = ContinuousClock.now
        await withDiscardingTaskGroup { group in
            for part in 0..<8 {
                group.addTask {
                    for place in stride(from: part, to: urls.count, by: 8) { await admin.remove(urls[place]) }
                }
            }
        }
        let told = ContinuousClock.now
        while machine.resources.memory.count > 0 { await Task.yield() }
        let forgotten = ContinuousClock.now
        while try await machine.resources.responses.statistics()?.entries != 0 {
            try await Task.sleep(for: .milliseconds(5))
        }
        let removed = ContinuousClock.now
        await machine.fleet.shutdown()
        await machine.resources.responses.close()
        func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
        return "\(count) removals told in \(milliseconds(told - start)) ms; the last left memory "
            + "\(milliseconds(forgotten - told)) ms and the disk \(milliseconds(removed - told)) ms later"
    }
}

import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineShared
import PipelineTesting
import Stages

/// Failovers of Redis, of which machines learn by Sentinel or by DNS: how long they share nothing, and whether a load fails.
struct FailoverTrial {
    /// A primary, and what takes its place.
    private protocol Servers: Sendable {
        var address: RedisAddress { get throws }
        /// Ends the primary, or makes it a replica, and returns once the other is the primary and machines can know that.
        func failOver(isKilled: Bool) throws
    }

    private struct Watched: Servers {
        let redis: WatchedRedis
        var address: RedisAddress { get throws { try RedisAddress(redis.url()) } }

        func failOver(isKilled: Bool) throws {
            if isKilled {
                redis.servers[0].kill()
            } else {
                try redis.sentinels[0].send("SENTINEL FAILOVER \(WatchedRedis.name)")
            }
            while try !redis.isPrimary(1) {}
        }
    }

    /// Two servers on two addresses, to one of which a name leads.
    private struct Named: Servers {
        static let name = "primary.trial"
        let hosts: String
        let port: Int
        let servers: [RedisServer]

        init(hosts: String) throws {
            self.hosts = hosts
            let port = try freePort()
            self.port = port
            servers = try ["127.0.0.1", "127.0.0.2"].map {
                try RedisServer("--port", "\(port)", "--bind", $0, "--repl-diskless-sync-delay", "0")
            }
            try servers[1].send("REPLICAOF 127.0.0.1 \(port)")
            while try servers[0].send("WAIT 1 1000") != ":1" {}
            try lead(to: "127.0.0.1")
        }

        var address: RedisAddress { RedisAddress(.host(Self.name, port: port)) }

        func failOver(isKilled: Bool) throws {
            if isKilled { servers[0].kill() }
            try servers[1].send("REPLICAOF NO ONE")
            if !isKilled { try servers[0].send("REPLICAOF 127.0.0.2 \(port)") }
            try lead(to: "127.0.0.2")
        }

        private func lead(to address: String) throws {
            // In place, since the file is mounted.
            guard let file = FileHandle(forWritingAtPath: hosts) else {
                throw TrialFailure("\(hosts) can't be written")
            }
            try file.write(contentsOf: Data("127.0.0.1 localhost\n\(address) \(Self.name)\n".utf8))
            try file.close()
        }
    }

    static func bySentinel(rounds: Int) async throws -> String {
        try await run(rounds) { Watched(redis: try WatchedRedis()) }
    }

    /// Runs the rounds in a process that has a file of names of its own. Root alone may do that.
    static func byName(rounds: Int, in folder: String) async throws -> String {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let hosts = folder + "/hosts"
        try Data("127.0.0.1 localhost\n".utf8).write(to: URL(filePath: hosts))
        let (status, said) = try await Process.run(
            URL(filePath: "/usr/bin/unshare"),
            [
                "--mount", "/bin/sh", "-c", "mount --bind \"$0\" /etc/hosts && exec \"$@\"", hosts,
                CommandLine.arguments[0], "failover-by-name", hosts, "\(rounds)",
            ])
        guard status == 0 else { throw TrialFailure(said) }
        return said.trimmingCharacters(in: .newlines)
    }

    /// The rounds in that process.
    static func byName(rounds: Int, hosts: String) async throws -> String {
        try await run(rounds) { try Named(hosts: hosts) }
    }

    private static func run(_ rounds: Int, _ make: () throws -> any Servers) async throws -> String {
        var lines: [String] = []
        for round in 0..<rounds {
            let isKilled = round.isMultiple(of: 2)
            lines.append("\(isKilled ? "killed" : "demoted"): \(try await self.round(make(), isKilled: isKilled))")
        }
        return lines.joined(separator: "\n")
    }

    private static func round(_ servers: any Servers, isKilled: Bool) async throws -> String {
        let picture = Picture.png(PixelSize(width: 32, height: 24))
        let origin = try ScriptedOrigin { request in
            let headers: HTTPFields = [.cacheControl: "max-age=3600", .eTag: "\"1\""]
            if request.headers[.ifNoneMatch] != nil { return .init(status: 304, headers: headers) }
            return .init(headers: headers, body: picture)
        }
        let machines = try (0..<2).map { _ in try Machine(servers.address) }
        for machine in machines {
            guard try await machine.fleet.ready(within: .seconds(30)) else {
                throw TrialFailure("a machine isn't ready")
            }
        }
        let removed = origin.url("/removed.png")
        for machine in machines { _ = try await machine.loader.load(removed) }
        // Loads of other images meanwhile.
        let load = Task {
            var count = 0
            while !Task.isCancelled {
                // One that is cancelled counts no more.
                do { _ = try await machines[count % 2].loader.load(origin.url("/cold\(count / 2).png")) } catch {
                    if !Task.isCancelled { throw error }
                }
                count += 1
            }
            return count
        }
        let clock = ContinuousClock()
        let start = clock.now
        try servers.failOver(isKilled: isKilled)
        let elected = clock.now
        var number = 0
        while true {
            let url = origin.url("/\(number).png")
            _ = try await machines[0].loader.load(url)
            if try await machines[1].loader.load(url).source == .shared { break }
            number += 1
        }
        let shared = clock.now
        while await !machines[0].fleet.remove(removed) {}
        while try await machines[1].loader.load(removed).source == .memory {}
        let cleared = clock.now
        load.cancel()
        let loads = try await load.value
        defer { withExtendedLifetime(servers) {} }
        return """
            a new primary after \(seconds(elected - start)), shared again \(seconds(shared - elected)) later, a removal heard \
            \(seconds(cleared - shared)) after that; \(loads) loads, none failed
            """
    }

    private static func seconds(_ duration: Duration) -> String {
        String(format: "%.2f s", Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18)
    }

    private struct Machine: Sendable {
        let fleet: Fleet
        let loader: ImageLoader

        init(_ address: RedisAddress) throws {
            fleet = Fleet(address)
            let resources = PipelineResources(
                memory: MemoryCache(), responses: HTTPCache(inMemory: 50_000_000),
                client: CurlClient(.init(addresses: .any)))
            loader = try ImageLoader(resources, arrangement: fleet.arrangement)
            fleet.join(resources)
        }
    }
}

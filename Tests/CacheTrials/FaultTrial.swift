import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages

/// Loads through a cache whose folder fails: each load still has its image, and one warning says what to do.
struct FaultTrial {
    private let folder: String
    private let clock = ManualClock(now: Date())
    private let trial: TrialCache
    private let pipeline: ImagePipeline

    init(folder: String) {
        let trial = TrialCache(folder, byteLimit: 1_000_000_000, clock: clock)
        self.folder = folder
        self.trial = trial
        pipeline = ImagePipeline(clock: clock) {
            ResolveIdentifier()
            Lookup(trial.cache)
            Lease(trial.cache) { Fetch(TrialOrigin(seed: 1, lifetimes: ["max-age=1"])) }
            CheckBody()
            Store(nil, trial.cache)
        }
    }

    /// On a file system with little room: nothing new is stored, what is there is found, and it recovers with room.
    func full() async throws -> String {
        try await load("first")
        let names = (0..<200).map(String.init)
        for name in names { try await load(name) }
        try expectOneWarning("Free some space")
        if case .miss = try await trial.cache.lookup(try TrialCache.key("first")) {
            throw TrialFailure("what was stored before is lost")
        }
        // What goes must be taken out also where a log has no room to grow.
        let report = try await trial.cache.verify()
        guard report.findings.allSatisfy({ $0.kind == .noRoom || $0.kind == .orphanBody }) else {
            throw TrialFailure("verify found \(report.findings)")
        }
        clock.advance(by: .seconds(2))
        let repaired = try await trial.cache.repair()
        guard repaired.isSound else { throw TrialFailure("repair left \(repaired.findings)") }
        try await load("last")
        guard case .fresh = try await trial.cache.lookup(try TrialCache.key("last")) else {
            throw TrialFailure("with room again, nothing is stored")
        }
        return "survived a full file system: \(names.count + 2) loads, \(report.entries) entries sound."
    }

    /// On a full file system: a newer version that isn't stored takes the older one with it, so that neither this process
    /// nor the next gets that.
    func replaced() async throws -> String {
        let names = (0..<4).map(String.init)
        // The log grows, and the database needn't.
        for round in 0..<2 {
            for name in names + Array(repeating: "again", count: 4) {
                guard try await isStored(name, length: 12_000) else { throw TrialFailure("no room for \(name)") }
            }
            if round == 0 { await trial.cache.close() }
        }
        fill()
        clock.advance(by: .seconds(1))
        for name in names {
            guard try await !isStored(name, length: 200_000) else { throw TrialFailure("there is room for \(name)") }
            let key = try TrialCache.key(name)
            let next = TrialCache(folder, byteLimit: 1_000_000_000, clock: clock).cache
            guard case .miss = try await trial.cache.lookup(key) else { throw TrialFailure("\(name) is still found") }
            guard case .miss(let reason) = try await next.lookup(key) else { throw TrialFailure("\(name) is found") }
            guard reason == .nothingStored else {
                throw TrialFailure("\(name) is still stored, or the cache can't be opened: \(reason)")
            }
        }
        return "survived a full file system: \(names.count) responses gave way."
    }

    /// Writes a file until there is no room.
    private func fill() {
        let file = open(folder + "/../filler", O_WRONLY | O_CREAT, 0o600)
        for length in [65_536, 4096] {
            let bytes = [UInt8](repeating: 1, count: length)
            while write(file, bytes, length) == length {}
        }
        close(file)
    }

    private func isStored(_ name: String, length: Int) async throws -> Bool {
        let exchange = HTTPExchange(
            url: try TrialCache.url(name), status: 200, headers: [.cacheControl: "max-age=600"],
            requestTime: clock.now, responseTime: clock.now, body: [UInt8](repeating: 1, count: length))
        return await trial.cache.commit(exchange, for: try TrialCache.key(name)) != nil
    }

    /// In a folder of which this user may do no more than `mode` allows.
    func denied(mode: mode_t) async throws -> String {
        // Whoever is root may do anything.
        if geteuid() == 0 {
            mkdir(folder, 0o700)
            guard chown(folder, 65_534, 65_534) == 0, setgid(65_534) == 0, setuid(65_534) == 0 else {
                throw TrialFailure("can't become another user")
            }
        }
        try await load("first")
        await trial.cache.close()
        for file in ["responses.sqlite", "leases"] { chmod("\(folder)/\(file)", mode & 0o600) }
        for inner in ["bodies", "."] { chmod("\(folder)/\(inner)", mode) }
        for number in 0..<20 { try await load("\(number)") }
        try expectOneWarning("Make the folder writable")
        let repaired = try await trial.cache.repair()
        guard repaired.findings.contains(where: { $0.kind == .unusable }), repaired.isSound else {
            throw TrialFailure("repair left \(repaired.findings)")
        }
        return "survived a folder of mode \(String(mode, radix: 8)): 21 loads."
    }

    private func load(_ name: String) async throws {
        let response = try await pipeline.load(ImageRequest(try TrialCache.url(name)))
        guard response.image != nil else { throw TrialFailure("\(name) has no image") }
    }

    private func expectOneWarning(_ remedy: String) throws {
        guard trial.warnings.count == 1, trial.warnings[0].contains(remedy) else {
            throw TrialFailure("the log has \(trial.warnings)")
        }
    }
}

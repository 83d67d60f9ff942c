import PipelineTesting
import Foundation
import Pipeline
import Stages

/// Kills a process that stores, again and again in one folder, and looks at what it leaves.
struct CrashTrial {
    let folder: String
    let kills: Int
    let seed: UInt64
    private var acknowledged = 0
    private var whole = 0
    private var orphans = 0

    init(folder: String, kills: Int, seed: UInt64) {
        self.folder = folder
        self.kills = kills
        self.seed = seed
    }

    /// Kills and looks; what was survived, in a sentence.
    mutating func run() async throws -> String {
        var random = SeededGenerator(seed: seed)
        for kill in 1...kills {
            do {
                // Some die while they open the folder.
                let lines = Int.random(in: 0...30, using: &random)
                let delay = UInt32.random(in: 0...(lines == 0 ? 60_000 : 4_000), using: &random)
                let child = try Child(["write", folder, "\(Int(seed % 1000) * 1000 + kill)"])
                var said = lines > 0 ? child.read(lines: lines) : ""
                usleep(delay)
                guard child.process.isRunning else { throw TrialFailure("the writer ended by itself") }
                child.kill()
                said += child.read()
                child.process.waitUntilExit()
                try await look(at: said)
            } catch {
                throw TrialFailure("kill \(kill) with seed \(seed): \(error)")
            }
        }
        return
            "survived \(kills) kills: the database opened each time, \(acknowledged) commits were acknowledged and none "
            + "of the latest was lost, \(whole) entries were read whole and none otherwise, \(orphans) orphans went with "
            + "the next clean-up."
    }

    private mutating func look(at said: String) async throws {
        let trial = TrialCache(folder, byteLimit: Writing.byteLimit)
        let cache = trial.cache
        let found = try await cache.verify().findings
        guard found.allSatisfy({ $0.kind == .orphanBody }) else { throw TrialFailure("verify found \(found)") }
        try await readAll(cache)
        try await findLatest(said, cache)

        await cache.cleanUp(.unused(.seconds(86_400)))
        orphans += found.count
        let left = try await cache.verify().findings
        guard left.isEmpty else { throw TrialFailure("after the clean-up verify still found \(left)") }
        await cache.close()
        guard trial.warnings.isEmpty else { throw TrialFailure("the log has \(trial.warnings)") }
    }

    private mutating func readAll(_ cache: HTTPCache) async throws {
        var last: Int64 = 0
        while true {
            let entries = try await cache.entries(after: last)
            guard let end = entries.last else { return }
            last = end.generation
            for entry in entries {
                let name = String(entry.target.split(separator: "/").last ?? "")
                guard case .fresh(let response, _) = try await cache.lookup(entry.key) else {
                    throw TrialFailure("\(name) is listed and does not read")
                }
                _ = try TrialCache.check(response.body, is: name)
                whole += 1
            }
        }
    }

    /// What a writer was told is stored must be there, unless others have pushed it out: its latest can't have been.
    private mutating func findLatest(_ said: String, _ cache: HTTPCache) async throws {
        var latest: [Substring: (name: String, version: Int)] = [:]
        for line in said.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let version = Int(words[1]) else { throw TrialFailure("the writer said \(line)") }
            acknowledged += 1
            latest[words[0].prefix(1)] = (String(words[0]), version)
        }
        for (name, version) in latest.values {
            guard case .fresh(let response, _) = try await cache.lookup(try TrialCache.key(name)),
                try TrialCache.check(response.body, is: name).version >= version
            else { throw TrialFailure("\(name) was acknowledged in version \(version) and is lost") }
        }
    }
}

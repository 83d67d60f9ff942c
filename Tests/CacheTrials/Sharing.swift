import PipelineTesting
import Foundation
import Pipeline
import Stages

/// One of several processes that load, store, evict and clean up in one folder, and check all that they get.
struct Sharing {
    static let byteLimit = 64_000_000

    private let trial: TrialCache
    private let pipeline: ImagePipeline
    private let seed: UInt64

    init(folder: String, seed: UInt64) {
        let trial = TrialCache(folder, byteLimit: Self.byteLimit)
        self.trial = trial
        self.seed = seed
        pipeline = ImagePipeline {
            ResolveIdentifier()
            Lookup(trial.cache)
            Fetch(TrialOrigin(seed: seed))
            CheckBody()
            Store(nil, trial.cache)
        }
    }

    /// Works until this many operations are done, or this many seconds have passed, in each of four tasks.
    func run(operations: Int, seconds: Double) async throws {
        let end = Date() + seconds
        let counts = try await withThrowingTaskGroup(of: [LoadSource: Int].self) { group in
            for task in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &* 4 &+ UInt64(task))
                    var counts: [LoadSource: Int] = [:]
                    var number = 0
                    while number < operations || Date() < end {
                        try await operate(&random, &counts)
                        number += 1
                        // An empty line: a moment to look how large the folder is.
                        if number % 5 == 0 { Child.tell("") }
                    }
                    return counts
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
        await trial.cache.close()
        guard trial.warnings.isEmpty else { throw TrialFailure("the log has \(trial.warnings)") }
        Child.tell("\(counts[.disk] ?? 0) \(counts[.network] ?? 0) \(counts[.revalidated] ?? 0)")
    }

    private func operate(_ random: inout SeededGenerator, _ counts: inout [LoadSource: Int]) async throws {
        // Some names are wanted more often than others.
        let name = "\(Int.random(in: 0..<Int.random(in: 1...2000, using: &random), using: &random))"
        switch Int.random(in: 0..<400, using: &random) {
        case 0: await trial.cache.cleanUp()
        case 1: await trial.cache.cleanUp(.unused(.seconds(5)))
        case 2...6: await trial.cache.remove(try TrialCache.key(name))
        case 7: _ = try await trial.cache.entries(limit: 50)
        default:
            let response = try await pipeline.load(ImageRequest(try TrialCache.url(name)))
            counts[response.source, default: 0] += 1
        }
    }
}

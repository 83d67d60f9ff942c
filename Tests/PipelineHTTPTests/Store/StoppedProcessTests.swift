import Foundation
import LibC
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("A cache next to a process that was stopped while it held a lock", .timeLimit(.minutes(5)))
struct StoppedProcessTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    /// Runs `body` next to a process that holds a lock, and ends that process.
    private func beside(_ arguments: [String], saying line: String, _ body: () async throws -> Void) async throws {
        let process = try Process.run(CacheTrials.executable, arguments, saying: line)
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try await body()
    }

    /// Everything that waits for the cache has to end.
    private func useAll(_ cache: HTTPCache) async throws {
        _ = try await cache.lookup(.test("a"))
        _ = try await cache.statistics()
        _ = try await cache.entries()
        _ = try await cache.verify()
        await cache.cleanUp()
        _ = try await cache.repair()
        await cache.removeAll()
        await cache.close()
    }

    private func expectDropped(_ cache: HTTPCache, _ name: String, length: Int = 100) async throws {
        #expect(try await store(cache, name, length: length) == nil)
    }

    private func expectFound(_ cache: HTTPCache) async throws {
        #expect(try await cache.lookup(.test("a")).isFresh)
    }

    @Test("A holder of the bodies blocks no lookup, nor the storing of short bodies; one warning is logged")
    func bodies() async throws {
        let cache = cache()
        _ = try await store(cache, "a")
        await cache.close()
        try await beside(["lock", path + "/bodies"], saying: "locked") {
            try await withThrowingTaskGroup { group in
                for index in 0..<8 {
                    group.addTask { try await expectDropped(cache, "\(index)", length: 100_000) }
                }
                group.addTask { try await expectFound(cache) }
                try await group.waitForAll()
            }
            #expect(try await store(cache, "b") != nil)
            #expect(log.warnings.count == 1)
            #expect(log.warnings.first?.contains("locked by another process") == true)
            try await useAll(cache)
        }
        clock.advance(by: .seconds(60))
        #expect(try await store(cache, "c", length: 100_000) != nil)
    }

    @Test("A holder of the folder blocks no load: lookups miss, and one warning is logged")
    func folderItself() async throws {
        let first = cache()
        _ = try await store(first, "a")
        await first.close()
        let cache = cache()
        try await beside(["lock", path], saying: "locked") {
            #expect(try await cache.lookup(.test("a")).isMiss)
            #expect(try await store(cache, "b") == nil)
            #expect(log.warnings.count == 1)
            #expect(log.warnings.first?.contains("locked by another process") == true)
            try await useAll(cache)
        }
        clock.advance(by: .seconds(60))
        #expect(try await store(cache, "c") != nil)
    }

    @Test("A lookup that is cancelled while the folder is locked ends with that")
    func cancelled() async throws {
        let first = cache()
        _ = try await store(first, "a")
        await first.close()
        let cache = cache()
        try await beside(["lock", path], saying: "locked") {
            let lookup = Task { try await cache.lookup(.test("a")) }
            for _ in 0..<1000 { await Task.yield() }
            lookup.cancel()
            await #expect(throws: CancellationError.self) { try await lookup.value }
        }
    }

    @Test("A process in the middle of a change blocks no lookup; stores are dropped, and do not wait in turn")
    func writing() async throws {
        let cache = cache()
        _ = try await store(cache, "a")
        try await beside(["migrate", path + "/responses.sqlite", ""], saying: "half") {
            try await withThrowingTaskGroup { group in
                for index in 0..<20 { group.addTask { try await expectDropped(cache, "\(index)") } }
                group.addTask { try await expectFound(cache) }
                try await group.waitForAll()
            }
            for index in 0..<20 { #expect(try await store(cache, "\(index)") == nil) }
            #expect(log.warnings.count == 1)
            try await useAll(cache)
        }
        clock.advance(by: .seconds(60))
        #expect(try await store(cache, "b") != nil)
    }
}

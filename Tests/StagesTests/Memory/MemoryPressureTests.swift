import Foundation
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import Stages

@Suite("A memory cache gives way when memory is short", .timeLimit(.minutes(5)))
struct MemoryPressureTests {
    private let root: TemporaryFolder
    private let clock = ManualClock()

    init() throws {
        root = try TemporaryFolder()
        try write("proc/self/cgroup", "3:cpu:/\n0::/app/web\n")
    }

    private func write(_ path: String, _ text: String) throws {
        let path = root.path + "/" + path
        try FileManager.default.createDirectory(
            atPath: String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]), withIntermediateDirectories: true)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func writeGroup(_ group: String, max: String, high: String = "max", used: Int, files: Int = 0) throws {
        let folder = "sys/fs/cgroup/\(group)"
        try write(folder + "/memory.max", max + "\n")
        try write(folder + "/memory.high", high + "\n")
        try write(folder + "/memory.current", "\(used)\n")
        try write(folder + "/memory.stat", "anon 5\ninactive_file \(files)\nactive_file 1\n")
    }

    private func writeStalls(_ path: String, _ microseconds: Int) throws {
        try write(
            path, "some avg10=0.00 avg60=0.00 avg300=0.00 total=\(microseconds)\nfull avg10=0.00 avg60=0.00 total=0\n")
    }

    private func pressure() throws -> MemoryPressure { try #require(MemoryPressure(root: root.path + "/")) }

    /// A cache of four entries of 1,000,000 bytes.
    private func cache(_ pressure: MemoryPressure?) throws -> MemoryCache {
        let cache = MemoryCache(
            byteLimit: 10_000_000, countLimit: nil, idleLimit: nil, pressure: pressure, clock: clock)
        for name in ["a", "b", "c", "d"] {
            let request = ImageRequest(.dataURL(name))
            let key = VariantKey(
                source: try #require(SourceKey(request)), request: request, list: BLAKE2bDigest(of: ""))
            let entry = MemoryEntry(
                product: .image(.filled(1000, with: [1])), validity: .unlimited, generation: Int64(name.utf8.first ?? 0)
            )
            cache.insert(entry, for: key, now: clock.now)
        }
        return cache
    }

    @Test("trim(toBytes:) removes the least recently used entries, whose last uses still count")
    func trim() throws {
        let cache = try cache(nil)
        cache.trim(toBytes: 2_500_000)
        #expect(cache.byteCount == 2_000_000)
        #expect(cache.uses(since: 0).uses.map(\.generation) == [97, 98, 99, 100])
        #expect(cache.uses(since: 1).uses.map(\.generation) == [98, 99, 100])
        cache.trim(toBytes: 0)
        #expect(cache.count == 0)
    }

    @Test("The fullest of the process's cgroups counts, without the file contents that the kernel can drop")
    func groups() throws {
        try writeGroup("app/web", max: "max", used: 900)
        #expect(try pressure().read().used == 0)
        try writeGroup("app", max: "1000", used: 950, files: 500)
        #expect(try pressure().read().used == 0.45)
        try writeGroup("app/web", max: "1000", high: "500", used: 400)
        #expect(try pressure().read().used == 0.8)
        try writeGroup("app/web", max: "damaged", used: -1)
        #expect(try pressure().read().used == 0.45)
    }

    @Test("Stalls are those of the cgroup, or else of the machine")
    func stalls() throws {
        try writeStalls("proc/pressure/memory", 7)
        #expect(try pressure().read().stalled == 7)
        try writeGroup("app/web", max: "max", used: 0)
        try writeStalls("sys/fs/cgroup/app/web/memory.pressure", 8)
        #expect(try pressure().read().stalled == 8)
        try write("sys/fs/cgroup/app/web/memory.pressure", "nonsense")
        #expect(try pressure().read().stalled == nil)
    }

    @Test("Where the kernel reports nothing, there is nothing to look at")
    func unreadable() {
        #expect(MemoryPressure(root: root.path + "/") == nil)
        #expect(MemoryPressure(root: "/no/such/folder/") == nil)
    }

    @Test("Memory is short at 90 % of a limit, or when tasks wait for a tenth of the time")
    func thresholds() {
        func isShort(_ used: Double, _ before: Int?, _ now: Int?) -> Bool {
            MemoryPressure.isShort(
                .init(used: used, stalled: now), since: .init(used: 0, stalled: before), after: .seconds(2))
        }
        #expect(!isShort(0.89, 0, 199_999))
        #expect(isShort(0.9, nil, nil))
        #expect(isShort(0, 100, 200_100))
        #expect(!isShort(0, nil, .max))
        #expect(!isShort(0, .max, .min))
    }

    @Test("Near its limit the cache halves itself with every look, and then there are no more looks")
    func halves() async throws {
        try writeGroup("app/web", max: "1000", used: 100)
        let cache = try cache(pressure())
        try await clock.sleepers(1)
        #expect(cache.byteCount == 4_000_000)
        try writeGroup("app/web", max: "1000", used: 950)
        for bytes in [2_000_000, 1_000_000, 0] {
            clock.advance(by: MemoryCache.watchInterval)
            try await clock.sleepers(1)
            #expect(cache.byteCount == bytes)
        }
        clock.advance(by: MemoryCache.watchInterval)
        while cache.isWatched { await Task.yield() }
        #expect(clock.sleeperCount == 0)
    }

    @Test("A cache that is let go is not kept for the looks")
    func letGo() async throws {
        try writeGroup("app/web", max: "1000", used: 100)
        var cache: MemoryCache? = try cache(pressure())
        weak let watched = cache
        try await clock.sleepers(1)
        cache = nil
        #expect(watched == nil)
    }
}

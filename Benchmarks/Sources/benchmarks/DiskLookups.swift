import Foundation
import Pipeline
import Stages

/// Measures the cost of a lookup on disk: in a large cache and a small one, against a plain file, and during eviction.
///
/// The candidates alternate in rounds, so that other load on the machine affects all alike. Python's diskcache runs in
/// its own process, with the same bodies.
enum DiskLookups {
    private static let rounds = 21

    /// - Parameter part: `size`, `evicting` or `count`; `nil` for all.
    static func run(_ part: String?) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "disk-lookups-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if part ?? "size" == "size" { try await bySize(folder) }
        if part ?? "evicting" == "evicting" { try await whileEvicting(folder) }
        if part ?? "count" == "count" { try await byCount(folder) }
    }

    // MARK: Against others

    private static func bySize(_ folder: String) async throws {
        for bytes in [20_000, 500_000] {
            let count = bytes < 100_000 ? 1000 : 200
            let cache = HTTPCache(folder: "\(folder)/cache-\(bytes)")
            try await DiskFilling.fill(cache, 0..<count, bytes: bytes)
            let files = try PlainFiles("\(folder)/files-\(bytes)", count: count, bytes: bytes)
            let sqlite = try SQLiteAlone("\(folder)/alone-\(bytes).sqlite", count: count, bytes: bytes)
            let threads = BlockingThreads(name: "benchmark", count: 3)
            print("A lookup among \(count) bodies of \(bytes / 1000) KB:")
            let times = try await alternating([
                { number in try await lookup(cache, number % count) },
                { number in
                    guard try await threads.run({ _ in files.read(number % count) }) == bytes else {
                        throw Unexpected()
                    }
                },
                { number in
                    guard try await threads.run({ _ in sqlite.read(number % count) }) == bytes else {
                        throw Unexpected()
                    }
                },
            ])
            report("HTTPCache.lookup", times[0])
            report("a plain file, through the same hop", times[1])
            report("SQLite alone, through the same hop", times[2])
            try report(diskcache: folder, count: count, bytes: bytes)
            print(ratio("HTTPCache to the plain file", median(times[0]) / median(times[1]), limit: 1.5))
        }
    }

    // MARK: In a large cache

    private static func byCount(_ folder: String) async throws {
        let counts = [1000, 1_000_000]
        var caches: [HTTPCache] = []
        for count in counts {
            let cache = HTTPCache(folder: "\(folder)/cache-of-\(count)", byteLimit: 20_000_000_000)
            try await DiskFilling.fill(cache, 0..<count, bytes: 2000)
            caches.append(cache)
        }
        print("A lookup among bodies of 2 KB:")
        let (small, large) = (caches[0], caches[1])
        let times = try await alternating([
            { _ in try await lookup(small, Int.random(in: 0..<counts[0])) },
            { _ in try await lookup(large, Int.random(in: 0..<counts[1])) },
        ])
        for (count, times) in zip(counts, times) { report("\(count) entries", times) }
        print(ratio("1,000,000 entries to 1,000", median(times[1]) / median(times[0]), limit: 2.5))
    }

    // MARK: While others are evicted

    private static func whileEvicting(_ folder: String) async throws {
        let cache = HTTPCache(folder: "\(folder)/evicting", byteLimit: 100_000_000)
        // The cache is full, so each further body evicts another.
        try await DiskFilling.fill(cache, 0..<6000, bytes: 20_000)
        let recent = 5000..<6000
        print("A lookup of a 20 KB body in a full cache:")
        var (resting, evicting): ([Double], [Double]) = ([], [])
        var stored = 0
        for round in 0..<rounds {
            resting += try await times(300) { _ in
                _ = try await cache.lookup(try DiskFilling.key(Int.random(in: recent)))
            }
            let writer = Task {
                var number = 10_000 * (round + 1)
                while !Task.isCancelled {
                    try await DiskFilling.fill(cache, number..<number + 1, bytes: 20_000)
                    number += 1
                }
                return number % 10_000
            }
            // On a busy machine, some of these may be evicted meanwhile.
            evicting += try await times(300) { _ in
                _ = try await cache.lookup(try DiskFilling.key(Int.random(in: recent)))
            }
            writer.cancel()
            stored += try await writer.value
        }
        report("at rest", resting)
        report("while bodies are stored and evicted without pause", evicting)
        print("  a body was stored every " + String(format: "%.0f µs", evicting.reduce(0, +) / Double(stored)))
        print(
            ratio(
                "99th percentile while evicting to at rest", percentile(evicting, 0.99) / percentile(resting, 0.99),
                limit: 3))
    }

    // MARK: Measuring

    private static func lookup(_ cache: HTTPCache, _ number: Int) async throws {
        guard case .fresh = try await cache.lookup(try DiskFilling.key(number)) else { throw Unexpected() }
    }

    private static func alternating(_ bodies: [(Int) async throws -> Void]) async throws -> [[Double]] {
        var all = bodies.map { _ in [Double]() }
        for round in 0...rounds {
            for (index, body) in bodies.enumerated() {
                let times = try await times(200, body)
                // The first round warms up.
                if round > 0 { all[index] += times }
            }
        }
        return all
    }

    /// The time of each call, in microseconds.
    private static func times(_ calls: Int, _ body: (Int) async throws -> Void) async throws -> [Double] {
        let clock = SystemClock()
        var times: [Double] = []
        for call in 0..<calls {
            let start = clock.uptimeNanoseconds
            try await body(call)
            times.append(Double(clock.uptimeNanoseconds - start) / 1000)
        }
        return times
    }

    private static func percentile(_ times: [Double], _ share: Double) -> Double {
        let sorted = times.sorted()
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }

    private static func median(_ times: [Double]) -> Double { percentile(times, 0.5) }

    private static func report(_ name: String, _ times: [Double]) {
        let padding = String(repeating: " ", count: max(1, 58 - name.count))
        print(
            "  \(name)\(padding)"
                + String(format: "median %8.1f µs   99th percentile %9.1f µs", median(times), percentile(times, 0.99)))
    }

    private static func ratio(_ name: String, _ value: Double, limit: Double) -> String {
        "  \(name): " + String(format: "%.2f", value) + " (at most \(limit))"
    }

    /// Runs `diskcache_lookups.py` if `make bench` has installed the package.
    private static func report(diskcache folder: String, count: Int, bytes: Int) throws {
        guard let python = ProcessInfo.processInfo.environment["DISKCACHE_PYTHON"] else { return }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: python)
        process.arguments = ["Benchmarks/diskcache_lookups.py", "\(folder)/diskcache-\(bytes)", "\(count)", "\(bytes)"]
        process.standardOutput = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        report("Python's diskcache, without a hop", said.split(separator: "\n").compactMap { Double($0) })
    }

    struct Unexpected: Error {}
}

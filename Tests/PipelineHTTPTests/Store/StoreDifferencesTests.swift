import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("A folder and memory answer alike")
struct StoreDifferencesTests {
    /// `SOAK_SEEDS` in the environment sets how many; 40 otherwise.
    private static var seeds: UInt64 {
        ProcessInfo.processInfo.environment["SOAK_SEEDS"].flatMap { UInt64($0) } ?? 40
    }

    @Test("whatever is stored, looked up, confirmed, removed and made invalid, and however the clock goes")
    func alike() async throws {
        let root = try TemporaryFolder(inMemory: true)
        var hits = 0
        for seed in 0..<Self.seeds {
            var trial = StoreDifferences(seed: seed, folder: root.path + "/\(seed)")
            if let difference = try await trial.run(steps: 120) {
                Issue.record("seed \(seed): \(difference)\n\(trial.history.suffix(20).joined(separator: "\n"))")
            }
            hits += trial.hits
        }
        // Else there was nothing to compare.
        #expect(hits > Int(Self.seeds) * 5)
    }
}

/// The same random operations on a cache in a folder and on one in memory.
private struct StoreDifferences {
    private(set) var history: [String] = []
    private(set) var hits = 0
    private var random: SeededGenerator
    private let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    private let caches: [HTTPCache]
    private let folder: String
    /// Whether the clock is also set back. When a response then counts as last used is up to the store.
    private let setsBack: Bool
    /// Requests under way.
    private var begun: [HTTPExchange] = []

    private static let names = ["a", "b", "c"]
    private static let accepts = ["x", "y", "z"]

    init(seed: UInt64, folder: String) {
        random = SeededGenerator(seed: seed)
        self.folder = folder
        setsBack = seed.isMultiple(of: 2)
        caches = [HTTPCache(folder: folder, clock: clock), HTTPCache(inMemory: 1_000_000_000, clock: clock)]
    }

    /// - Returns: The first difference; `nil` if there is none.
    mutating func run(steps: Int) async throws -> String? {
        defer { TemporaryFolder.remove(folder) }
        for _ in 0..<steps {
            if let difference = try await step() { return difference }
        }
        for cache in caches {
            let report = try await cache.verify()
            if !report.isSound { return "verify found \(report.findings)" }
            await cache.close()
        }
        return nil
    }

    private mutating func step() async throws -> String? {
        let name = Self.names.randomElement(using: &random) ?? ""
        let key = SourceKey.test(name)
        let request: HTTPFields = [.accept: Self.accepts.randomElement(using: &random) ?? ""]
        let url = "http://example.com/\(name)"
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1: begun.append(try exchange(url, request))
        case 2, 3, 4:
            let exchange =
                begun.isEmpty || Bool.random(using: &random) ? try exchange(url, request) : begun.removeFirst()
            let key = SourceKey.test(exchange.url.lastPathComponent)
            return await compare("commit") { await $0.commit(exchange, for: key).map(Self.text) ?? "not stored" }
        case 5, 6, 7:
            let difference = try await compare("lookup") { Self.text(try await $0.lookup(key, headers: request)) }
            if try await caches[0].lookup(key, headers: request).response != nil {
                hits += 1
                _ = try await caches[1].lookup(key, headers: request)
            }
            return difference
        case 8: return try await confirm(key, request, url)
        case 9:
            let target = try #require(URL(string: url))
            return await compare("remove url") { "\(await $0.remove(url: target))" }
        case 10:
            let tag = Bool.random(using: &random) ? "one" : "two"
            return await compare("remove tag") { "\(await $0.remove(tag: tag))" }
        case 11:
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return await compare("remove key") { "\(await $0.remove(key))" }
            case 1: return await compare("clean up") { "\(await $0.cleanUp())" }
            default:
                guard !setsBack else { break }
                let unused = Duration.seconds(Int.random(in: 1...100, using: &random))
                return await compare("unused") { "\(await $0.cleanUp(.unused(unused)))" }
            }
        case 12:
            return await compare("failure") { "\(await $0.recordFailure(status: 404, of: key)?.attempts ?? -1)" }
        case 13: return try await compare("failures") { "\(try await $0.failures(of: key)?.attempts ?? 0)" }
        case 14:
            let jump = Double.random(in: setsBack ? -50...30 : 0...30, using: &random)
            clock.set(now: clock.now + (Bool.random(using: &random) ? jump : jump / 1e7))
        default: clock.set(now: clock.now + Double.random(in: 0...5, using: &random))
        }
        return try await compare("entries") { cache in
            try await cache.entries().map { "\($0.target) \($0.stored.microseconds) \($0.bodyLength)" }
                .joined(separator: "\n")
        }
    }

    /// Confirms what each cache has stored, by the same 304.
    private mutating func confirm(_ key: SourceKey, _ request: HTTPFields, _ url: String) async throws -> String? {
        var update = try exchange(url, request)
        (update.status, update.body) = (304, [])
        return try await compare("confirm") { [update] cache in
            guard let stored = try await cache.lookup(key, headers: request).response else { return "nothing" }
            return await cache.freshen(stored, by: update).map(Self.text) ?? "not stored"
        }
    }

    private mutating func exchange(_ url: String, _ request: HTTPFields) throws -> HTTPExchange {
        let lifetime = Int.random(in: 0...60, using: &random)
        var headers: HTTPFields = [.cacheControl: lifetime == 0 ? "no-store" : "max-age=\(lifetime)", .eTag: "\"1\""]
        if Bool.random(using: &random) { headers[.vary] = "Accept" }
        if let tags = HTTPField.Name("Surrogate-Key") {
            headers[tags] = ["one", "two", "one two"].randomElement(using: &random)
        }
        let length = Int.random(in: 0..<8, using: &random) == 0 ? 70_000 : 10
        return try .test(
            url, request: request, headers,
            body: [UInt8](repeating: .random(in: 0...255, using: &random), count: length),
            at: clock.now)
    }

    private mutating func compare(_ what: String, _ run: (HTTPCache) async throws -> String) async rethrows -> String? {
        var answers: [String] = []
        for cache in caches { answers.append(try await run(cache)) }
        history.append("\(clock.now.timeIntervalSince1970) \(what): \(answers[0])")
        return answers[0] == answers[1] ? nil : "\(what): the folder has \(answers[0]), memory has \(answers[1])"
    }

    private static func text(_ response: StoredResponse) -> String {
        let times = [response.requestTime, response.stored, response.freshUntil ?? .distantPast].map(\.microseconds)
        return "\(response.target) \(times) \(response.body.first ?? 0) \(response.body.count) \(response.headers)"
    }

    private static func text(_ lookup: CacheLookup) -> String {
        switch lookup {
        case .fresh(let response, _): "fresh \(text(response))"
        case .stale(let response, _): "stale \(text(response))"
        case .miss(let reason): "\(reason)"
        }
    }
}

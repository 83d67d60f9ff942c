import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP

/// A store under check, with what the rules of ``StoreSpec`` need.
struct StoreTrial: Sendable {
    typealias Rule = @Sendable (StoreTrial) -> () async throws -> Void

    static let byteLimit = 1_000_000

    let store: any ResponseStore
    let now: Date
    /// Whether an invalidation returns the number of removed responses, rather than whether there may have been any.
    let countsInvalidated: Bool
    let breaches = Lock<[String]>([])

    func expect(_ holds: Bool, _ breach: String) {
        if !holds { breaches.withLock { $0.append(breach) } }
    }

    func key(_ name: String) -> SourceKey { SourceKey(digest: BLAKE2bDigest(of: name)) }

    /// A response under the key of a name, with a URL of that name.
    /// - Parameters:
    ///   - text: The entity tag, and the body unless a `size` is given.
    ///   - age: How many seconds ago it was requested.
    ///   - delay: How many seconds ago it is stored.
    func response(
        _ name: String, _ text: String = "body", size: Int? = nil, age: Double = 0, delay: Double = 0,
        status: Int = 200, tags: String? = nil, redirects: [String] = []
    ) -> StoredResponse {
        var headers: HTTPFields = [.contentType: "image/png", .eTag: "\"\(text)\""]
        if let tags, let field = HTTPField.Name("Surrogate-Key") { headers[field] = tags }
        return StoredResponse(
            generation: 0, key: key(name), target: "http://example.com/\(name)", status: status, headers: headers,
            requestTime: now - age, responseTime: now - age, stored: now - delay, expires: nil, freshUntil: now + 60,
            body: size.map { [UInt8](repeating: 7, count: $0) } ?? Array(text.utf8),
            selecting: SelectingFields(fields: [.init(name: "accept", value: Array(text.utf8))]),
            redirects: redirects.isEmpty ? nil : StoredRedirects(until: now + 60, targets: redirects))
    }

    /// Inserts a response that replaces nothing, and returns its generation.
    @discardableResult
    func insert(_ response: StoredResponse, askedAt time: Date? = nil) async -> Int64? {
        await store.insert(response, askedAt: time ?? now) { _ in [] }.generation
    }

    /// The responses under a key, without their bodies.
    func heads(_ name: String) async throws -> [StoredResponse] {
        let found = Lock<[StoredResponse]>([])
        let finding = try await store.find(key(name), priority: .normal) { heads in
            found.withLock { $0 = heads }
            return nil
        }
        if case .nothing(let count) = finding {
            expect(
                count == found.withLock(\.count),
                "`find` reports \(count) responses, but showed another number to choose.")
        } else {
            expect(false, "`find` returns \(finding) although nothing was chosen.")
        }
        return found.withLock(\.self)
    }

    /// The texts by which the responses under a key differ.
    func texts(_ name: String) async throws -> Set<String> {
        Set(try await heads(name).compactMap(\.validator))
    }

    func found(_ name: String, _ generation: Int64?) async throws -> StoredResponse? {
        let finding = try await store.find(key(name), priority: .normal) { heads in
            heads.first { $0.generation == generation }
        }
        if case .found(let response) = finding { return response }
        return nil
    }
}

extension StoreInsertion {
    var generation: Int64? { if case .inserted(let generation, _, _) = self { generation } else { nil } }
    var usedAt: Date? { if case .inserted(_, let time, _) = self { time } else { nil } }
    var isOutdated: Bool { if case .outdated = self { true } else { false } }
    var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
}

public import Essentials
public import Pipeline

/// The size of a cache and the success of its lookups.
public struct CacheStatistics: Sendable, Hashable {
    /// The number of stored responses.
    public let entries: Int
    /// The bytes that count towards the limit: bodies, fields, results and the overhead of the tables.
    public let bytes: Int
    /// The limit of ``bytes``.
    public let byteLimit: Int
    /// The number of bodies in files of their own.
    package let bodyFiles: Int
    /// Lookups of this object that found a response, fresh or stale.
    public let hits: Int
    /// Lookups of this object that found none.
    public let misses: Int
}

/// A summary of a stored response, for lists.
public struct CacheEntry: Sendable, Hashable {
    /// The number of its row.
    public let generation: Int64
    /// The key that it is stored under.
    public let key: SourceKey
    /// The URL that responded, query included: redact it before it is shown.
    public let target: String
    /// The status code.
    public let status: Int
    /// The length of its body in bytes.
    public let bodyLength: Int
    /// When it was stored or last confirmed.
    public let stored: Date
    /// When it was last used.
    public let accessed: Date
    /// When it stops being fresh by the rules under which it was stored; `nil` for never.
    public let freshUntil: Date?

    /// Describes a stored response.
    public init(_ response: StoredResponse, bodyLength: Int, accessed: Date) {
        self.init(
            generation: response.generation, key: response.key, target: response.target, status: response.status,
            bodyLength: bodyLength, stored: response.stored, accessed: accessed, freshUntil: response.freshUntil)
    }

    init(
        generation: Int64, key: SourceKey, target: String, status: Int, bodyLength: Int, stored: Date, accessed: Date,
        freshUntil: Date?
    ) {
        self.generation = generation
        self.key = key
        self.target = target
        self.status = status
        self.bodyLength = bodyLength
        self.stored = stored
        self.accessed = accessed
        self.freshUntil = freshUntil
    }
}

extension HTTPCache {
    /// Returns the cache's statistics; `nil` if it can't be used.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    public func statistics() async throws -> CacheStatistics? {
        let (hits, misses) = counts.withLock { $0 }
        return try await store.totals().map {
            CacheStatistics(
                entries: $0.entries, bytes: $0.bytes, byteLimit: store.byteLimit, bodyFiles: $0.bodyFiles, hits: hits,
                misses: misses)
        }
    }

    /// The stored responses, oldest first, page by page: pass the last entry's generation to get the next page. An
    /// empty page is the end.
    /// - Throws: `LoadError.Code.storeFailed` if the store lists an entry again, so that the listing might never end;
    ///   `CancellationError` if the task is cancelled.
    public func entries(after generation: Int64 = 0, limit: Int = 500) async throws -> [CacheEntry] {
        await flush()
        return try await page(after: generation, limit: limit)
    }

    /// How many pages a list can have, enough for ten million entries of 100 a page.
    package static let mostPages = 100_000

    /// Passes all entries on, oldest first, page by page, until `body` returns false.
    /// - Parameter mostPages: How long the list can be.
    /// - Throws: What ``entries(after:limit:)`` throws, and `LoadError.Code.storeFailed` if the store's list is longer: a
    ///   store that adds an entry for each page would never end it. The errors of `body`.
    package func eachPage(mostPages: Int = mostPages, _ body: ([CacheEntry]) async throws -> Bool) async throws {
        var last: Int64 = 0
        for _ in 0..<mostPages {
            let page = try await entries(after: last)
            guard let end = page.last, try await body(page) else { return }
            last = end.generation
        }
        throw LoadError(
            .storeFailed, subject: "",
            "The store's list of entries doesn't end after \(mostPages) pages. Check what else writes to it.")
    }

    /// A page of entries without waiting for what is written.
    func page(after generation: Int64, limit: Int) async throws -> [CacheEntry] {
        let entries = try await store.entries(after: generation, limit: limit)
        var last = generation
        for entry in entries {
            guard entry.generation > last else {
                throw LoadError(
                    .storeFailed, subject: "",
                    "The store's list of entries doesn't advance beyond number \(last). Check what else writes to it.")
            }
            last = entry.generation
        }
        return entries
    }
}

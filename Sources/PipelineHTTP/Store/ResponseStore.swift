public import FoundationEssentials
public import Pipeline

/// Where an ``HTTPCache`` keeps responses: a database in a folder, this process's memory, or a store of one's own.
///
/// A store knows no HTTP. The cache says with functions which of the responses under a key it means. A store calls them with
/// the responses' heads, whose bodies are empty, and may call them more than once. Each change is one step that takes place
/// as a whole or not at all, for all who share the store.
///
/// A store that fails never fails a load. It tells its log, finds nothing and changes nothing.
public protocol ResponseStore: Sendable {
    /// The bytes that everything stored may take. Beyond them the least recently used responses go first.
    var byteLimit: Int { get }

    /// Finds a response under a key.
    /// - Parameters:
    ///   - key: The source's key.
    ///   - priority: How urgent the search is against others.
    ///   - choose: Chooses among the heads of all responses under the key; returns `nil` if none is meant.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func find(
        _ key: SourceKey, priority: LoadPriority, choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?
    ) async throws -> StoreFinding

    /// Inserts a response under its key and gives it a generation. With a successful response the failures of its key are
    /// forgotten.
    /// - Parameters:
    ///   - response: The response, with its body.
    ///   - time: When its request was sent. A response of which a URL became invalid since isn't inserted.
    ///   - replace: Gets the heads of all responses under the key, and returns the generations of those that the new one
    ///     replaces; `nil` if it may not be inserted, since one of them is newer.
    func insert(
        _ response: StoredResponse, askedAt time: Date,
        replacing replace: @escaping @Sendable ([StoredResponse]) -> Set<Int64>?
    ) async -> StoreInsertion

    /// Gives a stored response other fields, times and redirects; its generation and its body stay.
    /// - Parameters:
    ///   - response: What is to be stored under its generation; its body counts for nothing.
    ///   - isCurrent: Gets the head as it is stored, and returns whether it may still be changed.
    /// - Returns: Whether it was changed; `nil` if the store failed.
    func update(_ response: StoredResponse, if isCurrent: @escaping @Sendable (StoredResponse) -> Bool) async -> Bool?

    /// Removes those of the responses under a key whose heads are meant.
    /// - Returns: The heads of those removed.
    @discardableResult
    func remove(_ key: SourceKey, where isMeant: @escaping @Sendable (StoredResponse) -> Bool) async -> [StoredResponse]

    /// Removes those of some responses that are still meant.
    /// - Returns: How many were removed.
    @discardableResult
    func remove(_ generations: [Int64], where isMeant: @escaping @Sendable (CacheEntry) -> Bool) async -> Int

    /// Removes every response that has a URL among its `StoredResponse.targets`, and keeps in mind for some minutes that the
    /// URL became invalid.
    /// - Returns: How many were removed.
    @discardableResult
    func invalidate(_ target: String, at time: Date) async -> Int

    /// Returns the responses behind a generation in the order of their generations.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func entries(after generation: Int64, limit: Int) async throws -> [CacheEntry]

    /// Counts what is stored; `nil` if the store can't be used.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func totals() async throws -> StoreTotals?

    /// Marks responses as used, for whatever has to make room. It returns at once, and may write that down with the next
    /// change.
    func use(_ uses: [ProductUse])

    /// Finds a result that was made of a response; `nil` if there is none.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func variant(_ key: VariantKey, of generation: Int64, priority: LoadPriority) async throws -> EncodedImage?

    /// Finds the widest result that was made of a response under a key that is alike (`VariantKey.isAlike(_:)`); `nil` if
    /// there is none. By default a store has none.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func largestVariant(
        like key: VariantKey, of generation: Int64, priority: LoadPriority
    ) async throws -> EncodedImage?

    /// Keeps a result that was made of a response for as long as the response is stored.
    func keep(_ image: EncodedImage, as key: VariantKey, of generation: Int64) async

    /// The failed attempts at a source; `nil` if there are none.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func failures(of key: SourceKey) async throws -> FailedAttempts?

    /// Counts a failed attempt at a source.
    /// - Returns: The attempts so far; `nil` if the store failed.
    func recordFailure(status: Int, of key: SourceKey, at time: Date) async -> FailedAttempts?

    /// Forgets the failed attempts at a source; at all sources for `nil`.
    func forgetFailures(of key: SourceKey?) async

    /// Returns once everything handed in so far is written.
    func flush() async

    /// Gives room back that is free, and removes what belongs to no response.
    func tidy() async

    /// Returns what it keeps open, once everything handed in so far is written. Used again, it opens again.
    func close() async
}

extension ResponseStore {
    /// None.
    public func largestVariant(
        like key: VariantKey, of generation: Int64, priority: LoadPriority
    ) async throws -> EncodedImage? { nil }

    /// How many results a response has at most; the oldest go first. A client can ask for any number of sizes.
    static var mostVariants: Int { 64 }
}

/// What a ``ResponseStore`` has under a key.
public enum StoreFinding: Sendable {
    /// The response that was chosen, with its body.
    case found(StoredResponse)
    /// Too many were there to choose among.
    case nothing(among: Int)
    /// What was chosen isn't what was stored.
    case damaged
    /// The store can't be used.
    case unavailable
}

/// How inserting into a ``ResponseStore`` ended.
public enum StoreInsertion: Sendable {
    /// It is stored under this generation, and counts as used at this time. The generations that it replaced are gone.
    case inserted(Int64, usedAt: Date, replaced: Set<Int64>)
    /// A newer one is stored, or a URL of it has become invalid.
    case outdated
    /// The store can't be used, or the response is larger than all of it.
    case unavailable
}

/// What a ``ResponseStore`` holds, in numbers.
public struct StoreTotals: Sendable, Hashable {
    /// The responses.
    public let entries: Int
    /// What they count for against the bound, in bytes.
    public let bytes: Int
    /// The bodies that are files of their own.
    public let bodyFiles: Int
    /// The highest generation that is stored; 0 if there is none.
    public let latestGeneration: Int64

    /// Gives the numbers.
    public init(entries: Int, bytes: Int, bodyFiles: Int = 0, latestGeneration: Int64) {
        self.entries = entries
        self.bytes = bytes
        self.bodyFiles = bodyFiles
        self.latestGeneration = latestGeneration
    }
}

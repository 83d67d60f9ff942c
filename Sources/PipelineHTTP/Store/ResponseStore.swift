public import Essentials
public import Pipeline

/// Stores the responses of an ``HTTPCache``: in a database in a folder, in this process's memory, or wherever you like.
///
/// A store knows nothing of HTTP. The cache passes functions that choose among the responses under a key. A store calls
/// them with the responses' heads, whose bodies are empty, and may call them more than once. Each change is atomic for
/// all processes that share the store.
///
/// A store that fails never fails a load. It logs the failure, finds nothing and changes nothing.
///
/// Seven functions make a store: to find, insert, update, remove and invalidate responses, and to close it. What else a
/// store may do has defaults: ``use(_:)`` for eviction by use; ``entries(after:limit:)``, ``totals()``, ``verify()`` and
/// ``repair()`` for whoever looks into it; results of an `Encode`; and failed attempts. A store that wraps another passes
/// all of them on.
///
/// <doc:AStoreOfYourOwn> shows a whole store. `StoreSpec` in the module `PipelineTesting` checks yours.
public protocol ResponseStore: Sendable {
    /// Finds a response under a key.
    /// - Parameters:
    ///   - key: The source's key.
    ///   - priority: How urgent the search is, compared to others.
    ///   - choose: Chooses among the heads of all responses under the key; returns `nil` if none matches.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func find(
        _ key: SourceKey, priority: LoadPriority, choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?
    ) async throws -> StoreFinding

    /// Inserts a response under its key and gives it a generation. A successful response resets the failures of its
    /// key.
    ///
    /// A store checks in this order: whether one of `StoredResponse.targets` became invalid after `time`, and whether
    /// `replace` returns `nil`, which is ``StoreInsertion/outdated`` in both cases; then whether there is room, which is
    /// ``StoreInsertion/unavailable``. Unless it inserts the response, it changes nothing. Afterwards it evicts down to
    /// its limit, but never the new response.
    ///
    /// Generations grow, and no number is given out again: not after a removal, and not by another store, which a program
    /// may use instead of this one while it keeps images in memory. Begin at a random number.
    /// - Parameters:
    ///   - response: The response, with its body.
    ///   - time: When its request was sent.
    ///   - replace: Gets the heads of all responses under the key, the most recently used first, and returns the
    ///     generations that have to go: those that the new one replaces, and those beyond the number that a source may
    ///     have. `nil` if the response must not be inserted, since one of them is newer.
    func insert(
        _ response: StoredResponse, askedAt time: Date,
        replacing replace: @escaping @Sendable ([StoredResponse]) -> Set<Int64>?
    ) async -> StoreInsertion

    /// Replaces the fields, times and redirects of a stored response, and so its `StoredResponse.targets`; its generation
    /// and its body stay.
    /// - Parameters:
    ///   - response: The new head for its generation; its body is ignored.
    ///   - isCurrent: Gets the stored head, and returns whether it may still be changed.
    /// - Returns: Whether it was changed; `nil` if the store failed.
    func update(_ response: StoredResponse, if isCurrent: @escaping @Sendable (StoredResponse) -> Bool) async -> Bool?

    /// Removes the responses under a key whose heads match.
    /// - Returns: The heads of the removed responses.
    @discardableResult
    func remove(_ key: SourceKey, where isMeant: @escaping @Sendable (StoredResponse) -> Bool) async -> [StoredResponse]

    /// Removes all responses that match, as far as they were stored before the call. Uses passed so far count.
    ///
    /// It is called for removals of everything, of a user or of a host, and for clean-ups. Lookups must not wait for it long.
    /// - Returns: The number of removed responses.
    @discardableResult
    func removeAll(where isMeant: @escaping @Sendable (CacheEntry) -> Bool) async -> Int

    /// Removes every response that has a URL or a tag among its `StoredResponse.targets`, and remembers for ten minutes
    /// that it became invalid. A request with an earlier time was sent before that; one with a time from the future, more
    /// than two seconds ahead, was sent before the clock was set back, and counts as earlier as well.
    /// - Returns: The number of removed responses; from a store that can't count them, 1 if there may have been any.
    @discardableResult
    func invalidate(_ target: String, at time: Date) async -> Int

    /// Gives a stored response the tags of a load that has found it, so that removals by them find it as well. By default
    /// its fields are updated.
    /// - Parameters:
    ///   - tags: The tags.
    ///   - key: The key that it is stored under.
    ///   - target: The URL that responded. A store of several machines also has their other tiers remove what came from it.
    ///   - choose: Chooses among the heads of all responses under the key.
    func add(
        _ tags: Set<String>, to key: SourceKey, from target: String,
        choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?) async

    /// Closes all files once all changes so far are written. The next use opens them again.
    func close() async

    // MARK: Order and uses

    /// The generation before which every response is older than those that are inserted, whatever their times say; 0 by
    /// default. A store that puts writers in order says so, so that their clocks may differ.
    var settledGeneration: Int64 { get }

    /// Marks responses as used, for eviction. It returns at once, and may write the uses with the next
    /// change. By default they have no effect.
    func use(_ uses: [ProductUse])

    /// Returns once all changes so far are written; at once by default.
    func flush() async

    // MARK: Inspection

    /// The limit of all stored bytes. Beyond it, the least recently used responses are removed first. `Int.max`, the
    /// default, for a store that has none, or doesn't know it.
    var byteLimit: Int { get }

    /// The folder that holds the responses; `nil`, the default, if there is none.
    var folder: String? { get }

    /// Returns the responses after a generation, in the order of their generations; none by default.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func entries(after generation: Int64, limit: Int) async throws -> [CacheEntry]

    /// Returns the totals; `nil`, the default, if the store can't be used, or doesn't count.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func totals() async throws -> StoreTotals?

    /// Looks for faults in what is stored, and changes nothing. By default it finds none.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func verify() async throws -> CacheReport

    /// Looks for faults, and repairs what it can. By default it does what ``verify()`` does.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func repair() async throws -> CacheReport

    /// Frees unused space, and removes data that belongs to no response. By default it does nothing.
    func tidy() async

    // MARK: Results and failed attempts

    /// Finds a result that was made of a response; `nil` if there is none. By default a store has none.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func variant(_ key: VariantKey, of generation: Int64, priority: LoadPriority) async throws -> EncodedImage?

    /// Finds the widest result that was made of a response under a key that is alike (`VariantKey.isAlike(_:)`); `nil` if
    /// there is none. By default a store has none.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func largestVariant(
        like key: VariantKey, of generation: Int64, priority: LoadPriority
    ) async throws -> EncodedImage?

    /// Stores a result that was made of a response, for as long as the response is stored. By default nothing is stored.
    func keep(_ image: EncodedImage, as key: VariantKey, of generation: Int64) async

    /// Finds a result by its name; `nil` if there is none. By default a store has none. `Results` reads them in all tiers
    /// but the nearest.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func result(named name: String, priority: LoadPriority) async throws -> EncodedImage?

    /// Stores a result under a name of letters, digits and points, or replaces it. The name says which bytes the result
    /// was made of, so it is right for ever; a store removes results when it needs their room. By default nothing is
    /// stored.
    /// - Returns: Whether it is stored.
    func keep(_ image: EncodedImage, named name: String) async -> Bool

    /// The failed attempts at a source; `nil` if there are none. By default a store knows of none.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func failures(of key: SourceKey) async throws -> FailedAttempts?

    /// Counts a failed attempt at a source. By default it counts nothing, and `LimitErrors` has no effect.
    /// - Returns: The attempts so far; `nil` if the store failed or doesn't count.
    func recordFailure(status: Int, of key: SourceKey, at time: Date) async -> FailedAttempts?

    /// Forgets the failed attempts at a source; at all sources for `nil`.
    func forgetFailures(of key: SourceKey?) async
}

extension ResponseStore {
    /// Times alone decide which response is newer.
    public var settledGeneration: Int64 { 0 }

    /// Updates the fields of the response.
    public func add(
        _ tags: Set<String>, to key: SourceKey, from target: String,
        choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?
    ) async {
        // Nothing is chosen from the store, so that it doesn't read a body.
        let chosen = Lock<StoredResponse?>(nil)
        _ = try? await find(key, priority: .normal) { heads in
            chosen.withLock { $0 = choose(heads) }
            return nil
        }
        guard let found = chosen.withLock(\.self) else { return }
        let tagged = found.tagged(tags)
        guard tagged.targets.count > found.targets.count else { return }
        // One that was confirmed meanwhile has other fields.
        _ = await update(tagged) { $0.requestTime == found.requestTime && $0.headers == found.headers }
    }

    /// Has no effect.
    public func use(_ uses: [ProductUse]) {}

    /// Returns at once.
    public func flush() async {}

    /// No limit is known.
    public var byteLimit: Int { .max }

    /// There is none.
    public var folder: String? { nil }

    /// Lists none.
    public func entries(after generation: Int64, limit: Int) async throws -> [CacheEntry] { [] }

    /// Counts none.
    public func totals() async throws -> StoreTotals? { nil }

    /// Finds no fault.
    public func verify() async throws -> CacheReport { CacheReport() }

    /// Repairs nothing.
    public func repair() async throws -> CacheReport { try await verify() }

    /// Does nothing.
    public func tidy() async {}

    /// Finds none.
    public func variant(_ key: VariantKey, of generation: Int64, priority: LoadPriority) async throws -> EncodedImage? {
        nil
    }

    /// Finds none.
    public func largestVariant(
        like key: VariantKey, of generation: Int64, priority: LoadPriority
    ) async throws -> EncodedImage? { nil }

    /// Stores nothing.
    public func keep(_ image: EncodedImage, as key: VariantKey, of generation: Int64) async {}

    /// Finds none.
    public func result(named name: String, priority: LoadPriority) async throws -> EncodedImage? { nil }

    /// Stores nothing.
    public func keep(_ image: EncodedImage, named name: String) async -> Bool { false }

    /// Knows of none.
    public func failures(of key: SourceKey) async throws -> FailedAttempts? { nil }

    /// Counts nothing.
    public func recordFailure(status: Int, of key: SourceKey, at time: Date) async -> FailedAttempts? { nil }

    /// Has none to forget.
    public func forgetFailures(of key: SourceKey?) async {}

    /// The most results that a response has; the oldest are removed first. A client can request any number of sizes.
    package static var mostVariants: Int { 64 }
}

/// The result of a search in a ``ResponseStore``.
public enum StoreFinding: Sendable {
    /// The response that was chosen, with its body.
    case found(StoredResponse)
    /// No response was chosen, out of this number under the key.
    case nothing(among: Int)
    /// The chosen response is damaged.
    case damaged
    /// The store can't be used.
    case unavailable
}

/// The result of inserting into a ``ResponseStore``.
public enum StoreInsertion: Sendable {
    /// It is stored under this generation, and counts as used at this time, which is later than that of every other
    /// response, even if the clock was set back: the cache dates later uses after it. The generations that it replaced
    /// are gone.
    case inserted(Int64, usedAt: Date, replaced: Set<Int64>)
    /// A newer one is stored, or a URL of it has become invalid.
    case outdated
    /// The store can't be used, or the response is larger than its limit. The cache then removes the responses that it
    /// would have replaced.
    case unavailable
}

/// The totals of a ``ResponseStore``.
public struct StoreTotals: Sendable, Hashable {
    /// The number of responses.
    public let entries: Int
    /// The bytes that count towards the limit.
    public let bytes: Int
    /// The number of bodies in files of their own.
    public let bodyFiles: Int
    /// The highest generation that is stored; 0 if there is none.
    public let latestGeneration: Int64

    /// Describes a store's totals.
    public init(entries: Int, bytes: Int, bodyFiles: Int = 0, latestGeneration: Int64) {
        self.entries = entries
        self.bytes = bytes
        self.bodyFiles = bodyFiles
        self.latestGeneration = latestGeneration
    }
}

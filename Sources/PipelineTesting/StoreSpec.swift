public import Essentials
import Pipeline
public import PipelineHTTP

/// Checks that a response store of your own keeps to the contract of stores.
///
/// ```swift
/// @Test("The store keeps to the contract of stores")
/// func contract() async throws {
///     try await StoreSpec([.eviction]) { DictionaryStore(byteLimit: $0) }.check()
/// }
/// ```
///
/// It inserts, finds, updates and removes responses in new stores, and compares what the store returns with the
/// documentation of `ResponseStore`. It takes no time by any clock.
public struct StoreSpec: Sendable {
    /// The violations of a store.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// Each violation, in a sentence.
        let breaches: [String]

        /// All violations, a line each.
        public var description: String { breaches.joined(separator: "\n") }
    }

    /// What a store may leave out. The check covers what you name, so that a store that wraps another can't lose a part
    /// of it by a default implementation unnoticed.
    public struct Features: OptionSet, Sendable {
        /// The bits of the features.
        public let rawValue: Int

        /// Makes a set from the bits of its features.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The store keeps to its limit, and removes the least recently used responses first.
        public static let eviction = Features(rawValue: 1)
        /// The store counts failed attempts.
        public static let failures = Features(rawValue: 2)
        /// The store keeps results that were made of responses, and finds them under their own keys.
        public static let exactResults = Features(rawValue: 4)
        /// The store keeps results, and finds them under keys that are alike too.
        public static let results: Features = [.exactResults, Features(rawValue: 8)]
        /// The store lists its responses and counts them.
        public static let inspection = Features(rawValue: 16)
        /// All of them.
        public static let all: Features = [.eviction, .failures, .results, .inspection]
    }

    private let features: Features
    private let countsInvalidated: Bool
    private let now: Date
    private let make: @Sendable (Int) async throws -> any ResponseStore

    /// Makes the check of a store.
    /// - Parameters:
    ///   - features: The optional parts that the store has; all by default.
    ///   - countsInvalidated: Whether `invalidate` returns the number of removed responses, as it does by default. With
    ///     `false`, a store that can't count them has to return 1 if it may have removed any, and 0 if it hasn't.
    ///   - now: The time of day of the responses and invalidations; by default the real one. Pass the time of a clock of
    ///     your test's if the store has it.
    ///   - make: Makes a new, empty store with a limit in bytes. It is called for each rule; the store is closed
    ///     afterwards.
    public init(
        _ features: Features = .all, countsInvalidated: Bool = true, now: Date = Date(),
        make: @escaping @Sendable (_ byteLimit: Int) async throws -> any ResponseStore
    ) {
        self.features = features
        self.countsInvalidated = countsInvalidated
        self.now = now
        self.make = make
    }

    /// Checks the store.
    /// - Throws: ``Failure`` with every violation; any error that `make` throws.
    public func check() async throws {
        let breaches = try await breaches()
        if !breaches.isEmpty { throw Failure(breaches: breaches) }
    }

    /// Every violation of the contract, in a sentence each; none if the store keeps to it.
    package func breaches() async throws -> [String] {
        var rules = StoreTrial.rules
        if features.contains(.eviction) { rules += StoreTrial.evictionRules }
        if features.contains(.inspection) { rules.append(StoreTrial.listed) }
        if features.contains(.failures) { rules.append(StoreTrial.failures) }
        if features.contains(.exactResults) { rules.append(StoreTrial.results) }
        if features.contains(.results) { rules.append(StoreTrial.largestResult) }
        var breaches: [String] = []
        for rule in rules {
            let trial = StoreTrial(
                store: try await make(StoreTrial.byteLimit), now: now, countsInvalidated: countsInvalidated)
            do {
                try await rule(trial)()
            } catch {
                trial.expect(false, "An operation threw \(error); only CancellationError is allowed.")
            }
            await trial.store.close()
            breaches += trial.breaches.withLock(\.self)
        }
        let firsts = try await [make(StoreTrial.byteLimit), make(StoreTrial.byteLimit)]
        var generations: Set<Int64> = []
        for store in firsts {
            let trial = StoreTrial(store: store, now: now, countsInvalidated: countsInvalidated)
            generations.insert(await trial.insert(trial.response("a")) ?? 0)
            await store.close()
        }
        if generations.count < firsts.count {
            breaches.append("Two stores give out the same generations; begin at a random number.")
        }
        return breaches
    }
}

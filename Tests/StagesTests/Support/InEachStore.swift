import Logging
import Pipeline
import Synchronization
import Testing

@testable import PipelineHTTP

/// Runs each test twice: with caches in folders, and with caches in memory.
struct InEachStore: TestTrait, SuiteTrait, TestScoping {
    /// The stores of a test whose caches are in memory. Two caches on one path have one store, as they would have one folder.
    final class Memory: Sendable {
        private let stores = Mutex<[String: InMemoryResponseStore]>([:])

        func store(_ path: String, byteLimit: Int) -> InMemoryResponseStore {
            stores.withLock { stores in
                let store = stores[path] ?? InMemoryResponseStore(byteLimit: byteLimit)
                stores[path] = store
                return store
            }
        }
    }

    @TaskLocal static var memory: Memory?

    var isRecursive: Bool { true }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await function()
        guard testCase != nil else { return }
        try await Self.$memory.withValue(Memory()) { try await function() }
    }
}

extension Trait where Self == InEachStore {
    /// Runs each test twice: with caches in folders, and with caches in memory.
    static var inEachStore: Self { InEachStore() }
}

extension HTTPCache {
    /// A cache in the kind of store that the test runs with.
    static func test(
        _ path: String, byteLimit: Int = 1_000_000_000, entryLimit: Int? = nil, isShared: Bool = false,
        users: Users = .several, clock: any LoadClock = SystemClock(), logger: Logger = Logger(label: "pipeline.cache")
    ) -> HTTPCache {
        guard let memory = InEachStore.memory else {
            return HTTPCache(
                folder: path, byteLimit: byteLimit, entryLimit: entryLimit, isShared: isShared, users: users,
                clock: clock, logger: logger)
        }
        return HTTPCache(
            store: memory.store(path, byteLimit: byteLimit), isShared: isShared, users: users, clock: clock)
    }
}

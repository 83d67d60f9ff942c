package import Logging
package import Pipeline
package import PipelineHTTP
import Synchronization
package import Testing

/// Runs each test twice: with caches in folders, and with caches in memory.
package struct InEachStore: TestTrait, SuiteTrait, TestScoping {
    /// The stores of a test whose caches are in memory. Two caches on one path have one store, as they would have one folder.
    package final class Memory: Sendable {
        private let stores = Mutex<[String: any ResponseStore]>([:])

        package func store(_ path: String, byteLimit: Int) -> any ResponseStore {
            stores.withLock { stores in
                let store = stores[path] ?? HTTPCache(inMemory: byteLimit).store
                stores[path] = store
                return store
            }
        }
    }

    @TaskLocal package static var memory: Memory?

    package var isRecursive: Bool { true }

    @concurrent package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await function()
        guard testCase != nil else { return }
        try await Self.$memory.withValue(Memory()) { try await function() }
    }
}

extension Trait where Self == InEachStore {
    /// Runs each test twice: with caches in folders, and with caches in memory.
    package static var inEachStore: Self { InEachStore() }
}

extension HTTPCache {
    /// A cache in the kind of store that the test runs with.
    package static func test(
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

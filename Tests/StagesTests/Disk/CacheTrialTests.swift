import Testing

@Suite("What processes do to a cache")
struct CacheTrialTests {
    @Test(
        "A process killed while it stores leaves a database that opens, entries that are whole, and no orphan for long")
    func killed() async throws {
        let trial = try await CacheTrials.run("crash", "8", "\(UInt64.random(in: 0..<1_000_000))")
        #expect(trial.status == 0, "\(trial.said)")
        #expect(trial.said.contains("survived 8 kills"))
    }

    @Test(
        "Four processes that load, store, evict and clean up in one folder get no error and no wrong byte, within the bound"
    )
    func shared() async throws {
        let trial = try await CacheTrials.run("sharing", "150", "0", "\(UInt64.random(in: 0..<1_000_000))")
        #expect(trial.status == 0, "\(trial.said)")
        #expect(trial.said.contains("survived 4 processes"))
    }
}

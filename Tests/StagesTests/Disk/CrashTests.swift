import Testing

@Suite("What a crash leaves")
struct CrashTests {
    @Test(
        "A process killed while it stores leaves a database that opens, entries that are whole, and no orphan for long")
    func killed() async throws {
        let trial = try await CacheTrials.run("crash", "8", "\(UInt64.random(in: 0..<1_000_000))")
        #expect(trial.status == 0, "\(trial.said)")
        #expect(trial.said.contains("survived 8 kills"))
    }
}

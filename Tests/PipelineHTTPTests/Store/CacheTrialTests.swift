import Foundation
import TestFixtures
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

    @Test(
        "In a folder that may only be read, or not even that, loads go on and one warning says what to do",
        arguments: ["500", "0"])
    func denied(mode: String) async throws {
        let trial = try await CacheTrials.run("denied", mode)
        #expect(trial.status == 0, "\(trial.said)")
        #expect(trial.said.contains("survived a folder of mode \(mode)"))
    }

    @Test(
        "On a full file system loads go on, one warning says what to do, and a repair makes room",
        .enabled(if: SmallFileSystem.isPossible, "no small file system can be mounted"))
    func full() async throws {
        let folder = try TemporaryFolder()
        let trial = try await SmallFileSystem.run(CacheTrials.executable.path, "full", in: folder.path)
        #expect(trial.status == 0, "\(trial.said)")
        #expect(trial.said.contains("survived a full file system"))
    }

    @Test(
        "On a full file system a newer response that isn't stored takes the older one with it",
        .enabled(if: SmallFileSystem.isPossible, "no small file system can be mounted"))
    func replaced() async throws {
        let folder = try TemporaryFolder()
        let trial = try await SmallFileSystem.run(CacheTrials.executable.path, "replaced", in: folder.path)
        #expect(trial.status == 0, "\(trial.said)")
        #expect(trial.said.contains("survived a full file system"))
    }
}

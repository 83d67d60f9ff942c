import TestFixtures
import Testing

@Suite("Sleeps that are cancelled")
struct SleepTests {
    @Test("What five thousand cancelled sleeps of an hour took is free for the next ones two seconds later")
    func memory() async throws {
        let (status, said) = try await CacheTrials.run("sleep", "50000")
        #expect(status == 0)
        let kilobytes = try #require(Int(said.prefix { $0 != "\n" }))
        // Under AddressSanitizer what is freed stays for a while.
        #if !SANITIZE
        #expect(kilobytes < 10_000)
        #endif
    }
}

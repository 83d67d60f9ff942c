import Foundation
import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineIsolation

@Suite("Workers that die often, or work without a request", .onLinux, .timeLimit(.minutes(5)))
struct CrashTests {
    /// Waits until something is so, or the test's time is over.
    private func until(_ isSo: () -> Bool) async throws {
        while !isSo() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// The random number of a worker's program.
    private func random(_ codecs: ImageCodecs) async -> String? {
        let error = await #expect(throws: LoadError.self) {
            try await DecodedImage(decoding: Escaping.file("random"), codecs: codecs)
        }
        return error?.message
    }

    @Test("After three deaths in a minute workers come from a new helper, with another layout, after a pause")
    func newHelper() async throws {
        let clock = ManualClock()
        let pool = try await DecoderPool(workers: 1, helper: Corpus.helper("EscapingDecoder"), clock: clock)
        let codecs = try Escaping.codecs(in: pool)
        let (helper, first) = (try #require(pool.helperProcess), await random(codecs))
        await #expect(throws: LoadError.self) {
            try await DecodedImage(decoding: Escaping.file("crash 1"), codecs: codecs)
        }
        #expect(await random(codecs) == first)
        let third = Task { try await DecodedImage(decoding: Escaping.file("crash 2"), codecs: codecs) }
        // A fourth death would come without a pause.
        try await until { pool.state.withLock { $0.crashes.needHelper || $0.statistics.deaths > 3 } }
        #expect(pool.helperProcess == helper)
        clock.advance(by: Crashes.shortestPause)
        await #expect(throws: LoadError.self) { try await third.value }
        #expect(await random(codecs) != first)
        #expect(pool.helperProcess != helper)
        #expect(pool.statistics.restarts == 1)
        await pool.close()
    }

    @Test("Deaths that aren't within a minute change nothing")
    func rareDeaths() async throws {
        let clock = ManualClock()
        let pool = try await DecoderPool(
            workers: 1, helper: Corpus.helper("EscapingDecoder"), age: .seconds(6000), clock: clock)
        let (codecs, helper) = (try Escaping.codecs(in: pool), pool.helperProcess)
        for number in 0..<3 {
            let crash = Task { try await DecodedImage(decoding: Escaping.file("crash \(number)"), codecs: codecs) }
            // A new helper would wait for the clock.
            let deaths = 2 * (number + 1)
            try await until { pool.state.withLock { $0.crashes.needHelper || $0.statistics.deaths == deaths } }
            clock.advance(by: .seconds(61))
            await #expect(throws: LoadError.self) { try await crash.value }
        }
        #expect(pool.helperProcess == helper)
        #expect(pool.statistics.restarts == 0)
        await pool.close()
    }

    @Test("Pauses double from 0.1 to 4 seconds while deaths go on, and are short again after a quiet minute")
    func pauses() {
        var (crashes, now, pauses) = (Crashes(), Int64(0), [Int64]())
        func restart() {
            for _ in 0..<Crashes.most { crashes.note(now: now) }
            let start = now
            while crashes.pauses(now: now) { now += 100_000_000 }
            crashes.needHelper = false
            pauses.append((now - start) / 100_000_000)
        }
        for _ in 0..<8 { restart() }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 40, 40])
        now += Int64(Crashes.period / .nanoseconds(1)) + 1
        restart()
        #expect(pauses.last == 1)
    }

    @Test("A worker that computes on after its response is ended before the next image")
    func computing() async throws {
        let pool = try await Corpus.pool(workers: 1, helper: "EscapingDecoder")
        let codecs = try Escaping.codecs(in: pool)
        _ = try await DecodedImage(decoding: Escaping.file("compute"), codecs: codecs)
        let computing = { pool.state.withLock { $0.idle.first }?.hasComputed }
        try await until { computing() != false }
        #expect(computing() == true)
        #expect(try await DecodedImage(decoding: Escaping.file("nothing"), codecs: codecs).size == 4)
        #expect(pool.statistics.kills == 1)
        #expect(pool.statistics.started == 2)
        await pool.close()
    }

    @Test("A worker without work ends after ten seconds, and the next image has another one")
    func idle() async throws {
        let clock = ManualClock()
        let pool = try await DecoderPool(workers: 1, helper: Corpus.helper("EscapingDecoder"), clock: clock)
        let codecs = try Escaping.codecs(in: pool)
        let helper = try #require(pool.helperProcess)
        try await clock.sleepers(1, includingLimits: true)
        clock.advance(by: DecoderPool.idleTime)
        try await until { pool.count == 0 }
        try await until { !Processes().children(of: helper).contains { !$0.isZombie } }
        #expect(try await DecodedImage(decoding: Escaping.file("nothing"), codecs: codecs).size == 4)
        #expect(pool.statistics.started == 2)
        #expect(pool.helperProcess == helper)
        await pool.close()
    }
}

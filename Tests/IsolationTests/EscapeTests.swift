import CEscapes
import Foundation
import Pipeline
import PipelineImages
import PipelineTesting
@testable import PipelineIsolation
import TestFixtures
import Testing

@Suite("A compromised decoder harms nothing but its own image", .onLinux)
struct EscapeTests {
    static let names: [String] = (0..<100).compactMap { cescapes_name($0).map { String(cString: $0) } }
        .filter { Escaping.canClone || $0 != "clone-namespace" }

    private func codecs(_ pool: DecoderPool) throws -> ImageCodecs { try Escaping.codecs(in: pool) }

    private func load(_ text: String, _ codecs: ImageCodecs) async throws -> DecodedImage {
        try await DecodedImage(decoding: Array("escape \(text)".utf8), codecs: codecs)
    }

    @Test("No attempt succeeds", arguments: names)
    func attempts(_ name: String) async throws {
        let pool = try await Corpus.pool(workers: 1, helper: "EscapingDecoder")
        let codecs = try codecs(pool)
        let error = await #expect(throws: LoadError.self) { try await load("try \(name)", codecs) }
        #expect(error?.code.rawValue == "failedAttempt")
        // The next image isn't affected.
        #expect(try await load("nothing", codecs).size == 4)
        #expect(pool.statistics.deaths == 0)
        await pool.close()
    }

    @Test("The same attempts succeed in a process that isn't confined")
    func mutation() async throws {
        let pool = try await Escaping.pool(without: .all)
        #expect(pool.confinement == [])
        let codecs = try codecs(pool)
        for name in [
            "open", "list", "link", "make-folder", "tcp", "udp", "abstract", "vfork", "fork", "map-executable",
            "make-executable", "memfd", "write-error",
        ] {
            #expect(
                try await load("try \(name)", codecs).size == 4, "\(name) failed anyway, so the test proves nothing")
        }
        await pool.close()
    }

    @Test(
        "Without one measure another still holds",
        arguments: [
            (Confinement.filteredCalls, ["open", "list", "descriptors", "threads", "root", "map-null", "memory"]),
            (.noFiles, ["open", "list", "exec", "tcp"]), (.limits, ["map-shared", "map-growing"]),
            (.noCapabilities, ["map-null"] + (Escaping.canClone ? ["clone-namespace"] : [])),
            (.notRoot, ["map-null"] + (Escaping.canClone ? ["clone-namespace"] : [])),
        ])
    func defenceInDepth(_ missing: Confinement, _ names: [String]) async throws {
        let pool = try await Escaping.pool(without: missing)
        let codecs = try codecs(pool)
        for name in names {
            await #expect(throws: LoadError.self, "\(name)") { try await load("try \(name)", codecs) }
        }
        await pool.close()
    }

    @Test(
        "Crashes and lies are errors for that image alone",
        arguments: [
            "crash", "smash", "overwrite", "junk", "duplicate", "lie-header", "lie-error", "lie-status", "allocate",
            // A picture larger than its file's, with too many frames, of no layout, with another region.
            "lie 5 4 3 269 0 1 0 4 4 0 0 0 0 0 0", "lie 4 4 3 269 0 2 0 4 4 0 0 0 0 0 0",
            "lie 4 4 2 269 0 1 0 4 4 0 0 0 0 0 0",
            "lie 4 4 3 269 0 1 0 4 4 1 0 0 2 2 0", "lie 4 4 3 269 0 1 -1 4 4 0 0 0 0 0 0",
            "lie 0 0 3 269 0 1 0 4 4 0 0 0 0 0 0",
            "lie",
        ])
    func crashes(_ what: String) async throws {
        let pool = try await Corpus.pool(
            workers: 1, limits: ImageLimits(memory: 100_000_000), helper: "EscapingDecoder")
        let codecs = try codecs(pool)
        if what == "duplicate" {
            // The first response is right, so the image is; the second must not be taken for the next image's.
            #expect(try await load(what, codecs).size == 4)
        } else {
            let error = await #expect(throws: LoadError.self) { try await load(what, codecs) }
            #expect(error?.code == .undecodable)
        }
        let good = try Pictures.bytes("good/webp-lossy.webp")
        #expect(try await DecodedImage(decoding: good, codecs: codecs).size.width > 4)
        #expect(try await load("nothing", codecs).size == 4)
        #expect(pool.statistics.deaths >= 1)
        await pool.close()
    }

    @Test("A file that killed two workers is refused for ten minutes without another worker")
    func refusal() async throws {
        let clock = ManualClock()
        let pool = try await DecoderPool(
            workers: 1, helper: Corpus.helper("EscapingDecoder"), age: .seconds(6000), clock: clock)
        let codecs = try codecs(pool)
        await #expect(throws: LoadError.self) { try await load("crash", codecs) }
        #expect(pool.statistics.deaths == 2)
        let error = await #expect(throws: LoadError.self) { try await load("crash", codecs) }
        #expect(pool.statistics.deaths == 2)
        #expect(error?.message.contains("refused for ten minutes") == true)
        #expect(try await load("other", codecs).size == 4)
        clock.advance(by: .seconds(601))
        await #expect(throws: LoadError.self) { try await load("crash", codecs) }
        #expect(pool.statistics.deaths == 4)
        await pool.close()
    }

    @Test("A decoder that never ends is killed at the time limit, and its worker replaced")
    func timeLimit() async throws {
        let pool = try await Corpus.pool(workers: 1, helper: "EscapingDecoder")
        let (codecs, clock) = (try codecs(pool), ManualClock())
        let pipeline = ImagePipeline(clock: clock) {
            ReadInline()
            Decode(codecs: codecs, limits: ImageLimits(time: .seconds(1)))
        }
        let loop = Task { try await pipeline.load(ImageRequest(.bytes(Array("escape loop".utf8)))) }
        // Until the header is read and the worker is busy again.
        while pool.statistics.requests < 1 || pool.idleCount > 0 { await Task.yield() }
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: LoadError.self) { try await loop.value }
        #expect(error?.code == .tooMuchTime)
        #expect(pool.statistics.kills == 1)
        #expect(try await load("nothing", codecs).size == 4)
        await pool.close()
    }

    @Test("A cancelled load kills its worker, so that the next one gets the slot")
    func cancellation() async throws {
        let pool = try await Corpus.pool(workers: 1, helper: "EscapingDecoder")
        let codecs = try codecs(pool)
        let task = Task { try await load("loop", codecs) }
        // Until the header is read and the worker is busy again.
        while pool.statistics.requests < 1 || pool.idleCount > 0 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await load("nothing", codecs).size == 4)
        #expect(pool.statistics.kills == 1)
        await pool.close()
    }
}

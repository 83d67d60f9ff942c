import Foundation
import Logging
import Pipeline
import PipelineImages
@testable import PipelineIsolation
import TestFixtures
import Testing

@Suite("A pool of decoding processes", .onLinux)
struct PoolTests {
    @Test("It has all measures in force on this machine, and says so")
    func confinement() async throws {
        let pool = try await Corpus.pool(workers: 1)
        #expect(pool.confinement.isSuperset(of: Confinement.required.union([.notRoot, .countedThreads])))
        #expect(pool.confinement.description.contains("filtered system calls (seccomp)"))
        await pool.close()
    }

    @Test(
        "Where Landlock or the filter is missing, it refuses to start unless less is accepted, and warns once then",
        arguments: [Confinement.noFiles, .filteredCalls, .noNewPrivileges])
    func missing(_ measure: Confinement) async throws {
        let error = await #expect(throws: LoadError.self) {
            try await DecoderPool(without: measure, helper: Corpus.helper("pipeline-decoder"))
        }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("\(measure) is missing") == true)
        let warnings = Warnings()
        let pool = try await DecoderPool(
            workers: 2, confinement: .bestEffort, without: measure, helper: Corpus.helper("pipeline-decoder"),
            logger: Logger(label: "test") { _ in warnings })
        let codecs = try ImageCodecs.standard.isolated(in: pool)
        let bytes = try Pictures.bytes("good/webp-lossy.webp")
        for _ in 0..<4 { _ = try await DecodedImage(decoding: bytes, codecs: codecs) }
        #expect(warnings.count == 1)
        #expect(!pool.confinement.contains(measure))
        await pool.close()
    }

    @Test("A missing helper, or another program in its place, is a clear error")
    func helper() async throws {
        let missing = await #expect(throws: LoadError.self) { try await DecoderPool(helper: "/nowhere/decoder") }
        #expect(missing?.code == .refused)
        #expect(missing?.description == "/nowhere/decoder: There is no program to decode images at this path.")
        for other in ["/bin/true", "/bin/cat"] {
            let error = await #expect(throws: LoadError.self) { try await DecoderPool(helper: other) }
            #expect(error?.message.contains("didn't start") == true)
        }
    }

    @Test("A codec that the helper doesn't know is refused when the codecs are isolated")
    func unknownCodec() async throws {
        let pool = try await Corpus.pool(workers: 1)
        let codec = ImageCodec(ImageFormat(rawValue: "image/x-own"), extensions: [], decoder: AbsentDecoder()) { _ in
            true
        }
        let error = #expect(throws: LoadError.self) { try ImageCodecs.standard.adding(codec).isolated(in: pool) }
        #expect(error?.code == .refused)
        #expect(error?.subject == "image/x-own")
        await pool.close()
    }

    @Test("A file larger than the pool's limit is refused before it is copied")
    func largeFile() async throws {
        let pool = try await Corpus.pool(workers: 1, limits: ImageLimits(encodedBytes: 1000))
        let codecs = try ImageCodecs.standard.isolated(in: pool)
        let bytes = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        let error = await #expect(throws: LoadError.self) { try await DecodedImage(decoding: bytes, codecs: codecs) }
        #expect(error?.code == .tooManyBytes)
        await pool.close()
    }

    @Test("A picture larger than the pool's slab is an error, and the worker stays")
    func largePicture() async throws {
        let pool = try await Corpus.pool(workers: 1, limits: ImageLimits(pixels: 1000, encodedBytes: 2_000_000))
        let codecs = try ImageCodecs.standard.isolated(in: pool)
        let bytes = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        let error = await #expect(throws: LoadError.self) { try await DecodedImage(decoding: bytes, codecs: codecs) }
        #expect(error?.code == .tooMuchMemory)
        #expect(pool.statistics.deaths == 0)
        await pool.close()
    }

    @Test("A closed pool refuses loads, and leaves no process")
    func closed() async throws {
        let pool = try await Corpus.pool(workers: 2)
        let helper = try #require(pool.helperProcess)
        let codecs = try ImageCodecs.standard.isolated(in: pool)
        let bytes = try Pictures.bytes("good/webp-lossy.webp")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = try await DecodedImage(decoding: bytes, codecs: codecs) } }
            try await group.waitForAll()
        }
        let workers = Processes().children(of: helper).map(\.number)
        #expect((1...2).contains(workers.count))
        await pool.close()
        #expect(pool.helperProcess == nil)
        #expect(!Processes().all.contains { !$0.isZombie && (workers + [helper]).contains($0.number) })
        let error = await #expect(throws: LoadError.self) { try await DecodedImage(decoding: bytes, codecs: codecs) }
        #expect(error?.code == .refused)
        await pool.close()
    }

    @Test("Workers are replaced after a number of images")
    func replaced() async throws {
        let pool = try await DecoderPool(workers: 1, helper: Corpus.helper("pipeline-decoder"), imagesPerWorker: 10)
        let codecs = try ImageCodecs.standard.isolated(in: pool)
        let bytes = try Pictures.bytes("good/webp-lossy.webp")
        // Two requests each, for one image.
        for _ in 0..<20 { _ = try await DecodedImage(decoding: bytes, codecs: codecs) }
        #expect(pool.statistics.started == 2)
        await pool.close()
    }

    @Test("Workers give way if the pool is told so", arguments: [false, true])
    func givesWay(givesWay: Bool) async throws {
        let pool = try await DecoderPool(workers: 1, helper: Corpus.helper("pipeline-decoder"), givesWay: givesWay)
        let helper = try #require(pool.helperProcess)
        let worker = try #require(Processes().children(of: helper).first?.number)
        let process = __priority_which_t(PRIO_PROCESS.rawValue)
        let niceness = getpriority(process, id_t(helper))
        #expect(getpriority(process, id_t(worker)) == (givesWay ? min(19, niceness + 7) : niceness))
        await pool.close()
    }

    @Test("If the helper is killed, the next worker comes from a new one")
    func helperKilled() async throws {
        let used = try await UsedPool()
        kill(used.helper, SIGKILL)
        // Its workers end with it, a moment later.
        while Processes().all.contains(where: { $0.number == used.worker && !$0.isZombie }) { await Task.yield() }
        #expect(try await used.decode().size == used.size)
        #expect(used.pool.helperProcess != used.helper)
        await used.pool.close()
        #expect(!Processes().all.contains { $0.number == used.helper })
    }

    /// How many decodes; `make soak` makes ten thousand.
    private static let decodes = ProcessInfo.processInfo.environment["SOAK_SEEDS"] ?? "500"

    /// What the trial program prints, run by its path or by another program that runs it.
    private func printed(by trial: [String], through: [String] = [], program path: String? = nil) throws -> String {
        let (program, output) = (Process(), Pipe())
        let words = through + [path ?? Corpus.helper("EscapingDecoder")] + trial
        program.executableURL = URL(filePath: words[0])
        program.arguments = Array(words.dropFirst())
        program.standardOutput = output
        try program.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        program.waitUntilExit()
        return text
    }

    @Test("It works where user namespaces are forbidden")
    func withoutNamespaces() throws {
        let picture = Pictures.path("good/heic-128.heif")
        #expect(
            try printed(by: ["confinement", "required", picture, "namespaces"]) == "128×128, missing: nothing\n")
    }

    @Test("On a kernel without Landlock or seccomp, it refuses, or says what is missing and decodes")
    func oldKernel() throws {
        let picture = Pictures.path("good/webp-lossy.webp")
        for (call, missing) in [("landlock", "no files (Landlock)"), ("seccomp", "filtered system calls (seccomp)")] {
            let refusal = try printed(by: ["confinement", "required", picture, call])
            #expect(refusal.contains("This system can't confine the processes that decode: \(missing) is missing."))
            #expect(
                try printed(by: ["confinement", "bestEffort", picture, call]) == "160×120, missing: \(missing)\n")
        }
    }

    @Test("It works as an ordinary user", .enabled(if: getuid() == 0))
    func ordinaryUser() throws {
        // Another user may not be allowed into this build's folder.
        let folder = URL(filePath: "/tmp/isolation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (program, picture) = (folder.appending(path: "EscapingDecoder"), folder.appending(path: "picture"))
        try FileManager.default.copyItem(at: URL(filePath: Corpus.helper("EscapingDecoder")), to: program)
        try FileManager.default.copyItem(at: URL(filePath: Pictures.path("good/heic-128.heif")), to: picture)
        chmod(folder.path, 0o755)
        chmod(picture.path, 0o644)
        let user = ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        #expect(
            try printed(by: ["confinement", "required", picture.path], through: user, program: program.path)
                == "128×128, missing: nothing\n")
    }

    @Test("A lower limit of processor time that the program has is a worker's too, and no reason to refuse")
    func inheritedLimit() throws {
        let picture = Pictures.path("good/webp-lossy.webp")
        let limited = ["/bin/sh", "-c", #"ulimit -t 240; exec "$0" "$@""#]
        #expect(
            try printed(by: ["confinement", "required", picture], through: limited) == "160×120, missing: nothing\n")
    }

    @Test("Hostile files and a decoder that destroys its memory cost neither the program's memory nor its time")
    func hostile() throws {
        let files = try Corpus.paths("bad") + Corpus.fuzzedPaths()
        // Three of four of the 40 files kill their worker, twice. None of the others may.
        #expect(
            try printed(by: ["hostile"] + files) == "\(files.count + 40) loads, 60 deaths, under 50 MB, in time\n")
    }

    @Test("Workers that are killed at random cost no image, and leave no process, descriptor or memory")
    func kills() throws {
        // In a program of its own, whose descriptors and processes no other test changes.
        let text = try printed(by: ["kills", Self.decodes] + Corpus.paths("good"))
        #expect(text == "0 wrong, 0 processes left, 0 descriptors left, no memory\n")
    }

    @Test("A worker that is woken for nothing does the next request as always")
    func wokenForNothing() async throws {
        let used = try await UsedPool()
        // More than the channel holds, since it reads none before it continues.
        kill(used.worker, SIGSTOP)
        for _ in 0..<5000 { used.pool.wakeWorker() }
        kill(used.worker, SIGCONT)
        #expect(try await used.decode().size == used.size)
        await used.pool.close()
    }

    @Test("A program that is killed leaves no process behind")
    func programKilled() async throws {
        let program = try Process.run(URL(filePath: Corpus.helper("EscapingDecoder")), arguments: ["hold"])
        // A helper and two workers.
        func helpers() -> [Int32] { Processes().children(of: program.processIdentifier).map(\.number) }
        func workers(_ helpers: [Int32]) -> [Int32] { helpers.flatMap { Processes().children(of: $0) }.map(\.number) }
        while workers(helpers()).count < 2, program.isRunning { await Task.yield() }
        let (helper, worker) = (helpers(), workers(helpers()))
        #expect(helper.count == 1 && worker.count == 2)
        kill(program.processIdentifier, SIGKILL)
        program.waitUntilExit()
        // The test would hang here if they stayed; they end within milliseconds.
        while Processes().all.contains(where: { !$0.isZombie && (helper + worker).contains($0.number) }) {
            await Task.yield()
        }
    }
}

/// Counts warnings.
private final class Warnings: LogHandler, Sendable {
    private let warnings = Lock(0)
    var count: Int { warnings.withLock { $0 } }

    func log(event: LogEvent) {
        if event.level >= .warning { warnings.withLock { $0 += 1 } }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
}

/// A pool whose only worker has decoded a picture.
private struct UsedPool {
    let pool: DecoderPool
    let helper, worker: Int32
    let size: PixelSize
    private let codecs: ImageCodecs
    private let bytes: [UInt8]

    init() async throws {
        pool = try await Corpus.pool(workers: 1)
        codecs = try ImageCodecs.standard.isolated(in: pool)
        bytes = try Pictures.bytes("good/webp-lossy.webp")
        size = try await DecodedImage(decoding: bytes, codecs: codecs).size
        helper = try #require(pool.helperProcess)
        worker = try #require(Processes().children(of: helper).first?.number)
    }

    func decode() async throws -> DecodedImage { try await DecodedImage(decoding: bytes, codecs: codecs) }
}

import CSandbox
import Foundation
import LibC
import Pipeline
import PipelineImages
@testable import PipelineIsolation
import TestFixtures
import Testing

@Suite("No measure is decoration: without it, an attempt succeeds that it stopped", .onLinux)
struct MutationTests {
    /// A measure, and what it stops where others are missing that would stop it too.
    struct Mutation: CustomTestStringConvertible, Sendable {
        let measure: Confinement
        var others: Confinement = []
        let attempts: [String]
        var isForRoot = false

        var testDescription: String {
            "\(measure)" + (others.isEmpty ? "" : ", where these are missing: \(others)")
        }
    }

    static let mutations: [Mutation] =
        [
            Mutation(
                measure: .filteredCalls,
                attempts: [
                    "map-shared", "map-growing", "map-huge", "advise", "clock", "sleep-by-clock", "affinity", "load",
                ]),
            Mutation(measure: .limits, attempts: ["memory", "addresses"]),
            // The filter allows threads, but no processes.
            Mutation(measure: .limits, others: .filteredCalls, attempts: ["fork"]),
            Mutation(measure: .countedThreads, attempts: ["threads"]),
            // The filter allows what libraries write as warnings, and no call that says whether a descriptor is open.
            Mutation(measure: .noDescriptors, attempts: ["write-error"]),
            Mutation(measure: .noDescriptors, others: .filteredCalls, attempts: ["descriptors"]),
            // The filter allows no path, and without descriptors no file can be opened.
            Mutation(measure: .noFiles, others: .filteredCalls, attempts: ["make-folder"]),
            Mutation(measure: .noFiles, others: [.filteredCalls, .noDescriptors], attempts: ["open", "list"]),
            // The filter allows no socket, and without descriptors there is none.
            Mutation(measure: .noTCP, others: [.filteredCalls, .noDescriptors], attempts: ["tcp"]),
            Mutation(measure: .scoped, others: [.filteredCalls, .noDescriptors], attempts: ["abstract"]),
            // The filter allows no signal, and a user's process signals none of another's.
            Mutation(measure: .scoped, others: [.filteredCalls, .notRoot], attempts: ["signal"]),
            // The filter and Landlock need it. To count threads needs it too, so that it is in force then.
            Mutation(
                measure: .noNewPrivileges, others: [.countedThreads, .noDescriptors],
                attempts: ["open", "make-folder", "tcp", "clock"]),
            // A process of root's has its capabilities, and another user's has none.
            Mutation(measure: .noCapabilities, others: .notRoot, attempts: ["map-null"], isForRoot: true),
            Mutation(measure: .notRoot, others: .noCapabilities, attempts: ["map-null"], isForRoot: true),
            Mutation(measure: .notRoot, others: .filteredCalls, attempts: ["root"], isForRoot: true),
        ] + (Escaping.canClone ? namespaces : [])

    /// A namespace needs capabilities, and the limit of processes counts threads.
    private static let namespaces: [Mutation] = {
        let all: Confinement = [.filteredCalls, .noCapabilities, .notRoot]
        return [Confinement.filteredCalls, .noCapabilities, .notRoot].map { measure in
            Mutation(
                measure: measure, others: all.subtracting(measure).union(.limits), attempts: ["clone-namespace"],
                isForRoot: true)
        }
    }()

    /// What tests of their own take away, since the attempt is another process's.
    private static let triedByOthers: Confinement = [.diesWithParent, .notDumpable]

    @Test("Each measure has an attempt that it stops")
    func complete() {
        #expect(Self.mutations.reduce(into: Self.triedByOthers) { $0.formUnion($1.measure) } == .all)
    }

    private func load(_ text: String, _ codecs: ImageCodecs) async throws -> DecodedImage {
        try await DecodedImage(decoding: Escaping.file(text), codecs: codecs)
    }

    @Test("An attempt fails with the measure, and succeeds without it", arguments: mutations)
    func mutation(_ mutation: Mutation) async throws {
        if mutation.isForRoot, getuid() != 0 { try Test.cancel("Only root has what it takes away.") }
        let pool = try await Escaping.pool(without: mutation.others)
        let weaker = try await Escaping.pool(without: mutation.others.union(mutation.measure))
        guard pool.confinement.contains(mutation.measure) else {
            try Test.cancel("This kernel lacks the measure: \(mutation.measure).")
        }
        #expect(!weaker.confinement.contains(mutation.measure))
        for attempt in mutation.attempts {
            let error = await #expect(throws: LoadError.self, "\(attempt) succeeded") {
                try await load("try \(attempt)", Escaping.codecs(in: pool))
            }
            #expect(error?.code.rawValue == "failedAttempt")
            await #expect(throws: Never.self, "\(attempt) failed anyway") {
                try await load("try \(attempt)", Escaping.codecs(in: weaker))
            }
        }
        await pool.close()
        await weaker.close()
    }

    @Test(
        "A worker that computes ends with the process that forked it, and doesn't without the measure",
        .timeLimit(.minutes(1)), arguments: [(Confinement(), true), (.diesWithParent, false)])
    func endsWithParent(_ missing: Confinement, _ ends: Bool) async throws {
        let pool = try await Escaping.pool(without: missing)
        let codecs = try Escaping.codecs(in: pool)
        let helper = try #require(pool.helperProcess)
        let worker = try #require(Processes().children(of: helper).first?.number)
        func runs(_ process: Int32) -> Bool { Processes().all.contains { $0.number == process && !$0.isZombie } }
        let task = Task { try await load("loop", codecs) }
        // Until the header is read and the worker is busy again.
        while pool.statistics.requests < 1 || pool.idleCount > 0 { await Task.yield() }
        kill(helper, SIGKILL)
        // The kernel sends its children the signal before it is a zombie.
        while runs(helper) { await Task.yield() }
        let time = csandbox_used_time(worker)
        while runs(worker), ends || csandbox_used_time(worker) < time + 50_000_000 { await Task.yield() }
        #expect(runs(worker) != ends)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await pool.close()
    }

    @Test("Another process of the worker's user doesn't read its memory, and does without the measure")
    func memory() async throws {
        // A process that has changed its user can't be read either. So root's stays root's here, and is read by root without
        // capabilities.
        let others: Confinement = getuid() == 0 ? .notRoot : []
        let user = getuid() == 0 ? ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] : []
        for (missing, isReadable) in [(others, false), (others.union(.notDumpable), true)] {
            let pool = try await Escaping.pool(without: missing)
            let helper = try #require(pool.helperProcess)
            let worker = try #require(Processes().children(of: helper).first?.number)
            let (reader, output) = (Process(), Pipe())
            reader.executableURL = URL(filePath: "/usr/bin/env")
            reader.arguments = user + ["cat", "/proc/\(worker)/environ"]
            (reader.standardOutput, reader.standardError) = (output, FileHandle.nullDevice)
            try reader.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            reader.waitUntilExit()
            #expect(text.contains("GLIBC_TUNABLES") == isReadable)
            await pool.close()
        }
    }

    /// Whether programs in the folder for temporary files may have another user's rights.
    private static let canGainRights: Bool = {
        var system = statvfs()
        return getuid() == 0 && statvfs("/tmp", &system) == 0 && system.f_flag & UInt(ST_NOSUID) == 0
    }()

    @Test(
        "A program with root's rights doesn't have them in a worker, and does without the measure",
        .enabled(if: canGainRights, "only root makes such a program, where the folder for temporary files allows it"))
    func privileges() async throws {
        let folder = URL(filePath: "/tmp/escape-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (program, secret) = (folder.appending(path: "cat"), folder.appending(path: "secret"))
        try FileManager.default.copyItem(at: URL(filePath: "/bin/cat").resolvingSymlinksInPath(), to: program)
        try Data("secret".utf8).write(to: secret)
        for (path, mode) in [(folder.path, 0o755), (program.path, 0o4755), (secret.path, 0o600)] {
            #expect(chmod(path, mode_t(mode)) == 0)
        }
        // All others would stop the program sooner.
        let others = Confinement.all.subtracting([.noNewPrivileges, .notRoot, .noCapabilities])
        let file = "run \(program.path) \(secret.path)"
        let pool = try await Escaping.pool(without: others)
        let error = await #expect(throws: LoadError.self) { try await load(file, Escaping.codecs(in: pool)) }
        // What cat says if it can't read the file.
        #expect(error?.message == "Error 1.")
        let weaker = try await Escaping.pool(without: others.union(.noNewPrivileges))
        #expect(try await load(file, Escaping.codecs(in: weaker)).size == 4)
        await pool.close()
        await weaker.close()
    }
}

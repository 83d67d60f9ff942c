import Foundation
import Pipeline
import TestFixtures
import Testing

@testable import PipelineCommand

@Suite("The journal of a batch, and what it takes for done")
struct JournalTests {
    private let pipectl: Pipectl
    /// A source that last changed long ago, of which the system's word is taken.
    private let old = Pictures.path("good/jpeg-greyscale.jpg")

    init() throws { pipectl = try Pipectl() }

    private func opened() throws -> Journal {
        try Journal(pipectl.path("j"), options: BLAKE2bDigest(of: "options"), resumes: true)
    }

    private func making(_ name: String) -> Job {
        Job(
            input: old,
            targets: .success([OutputTarget(destination: .path(pipectl.path("out/\(name)")), format: .jpeg)]))
    }

    /// Writes the result of a job as a batch does.
    private func finish(_ job: Job, in journal: Journal, bytes: [UInt8] = [1, 2, 3]) throws {
        let path = try #require(try job.targets.get().first?.plannedPath)
        let facts = JournalSeen.facts(of: job)
        journal.willWrite(journal.key(of: job, .bytes([])), job, [(path, bytes)])
        try OutputFile(path).write(bytes)
        journal.didWrite(job, facts, [path])
    }

    private func isDone(_ job: Job, in journal: Journal) -> Bool {
        journal.isDone(journal.key(of: job, .bytes([])), job, JournalSeen.facts(of: job))
    }

    @Test("A job is untouched until its result or its source changes in any way that the system can tell")
    func untouched() throws {
        let source = pipectl.path("source")
        try FileManager.default.createSymbolicLink(atPath: source, withDestinationPath: old)
        let targets = [OutputTarget(destination: .path(pipectl.path("out/a")), format: .jpeg)]
        let job = Job(input: source, targets: .success(targets))
        let journal = try opened()
        try finish(job, in: journal)
        #expect(journal.isUntouched(job))
        let result = pipectl.folder.appending(path: "out/a")
        let before = try #require(FileFacts(result.path))

        // Another file of the same size and time.
        try Data([3, 2, 1]).write(to: result, options: .atomic)
        try setTime(of: result.path, before)
        #expect(!journal.isUntouched(job) && !isDone(job, in: journal))
        try finish(job, in: journal)
        // Other bytes in the same file. Times of change have steps of milliseconds.
        let facts = try #require(FileFacts(result.path))
        let file = try FileHandle(forWritingTo: result)
        repeat {
            try file.seek(toOffset: 0)
            try file.write(contentsOf: Data([9]))
            try setTime(of: result.path, facts)
        } while FileFacts(result.path)?.changed == facts.changed
        try file.close()
        #expect(FileFacts(result.path)?.modified == facts.modified && FileFacts(result.path)?.size == facts.size)
        #expect(!journal.isUntouched(job) && !isDone(job, in: journal))
        try FileManager.default.removeItem(at: result)
        #expect(!journal.isUntouched(job) && !isDone(job, in: journal))
        try FileManager.default.createDirectory(at: result, withIntermediateDirectories: true)
        #expect(!journal.isUntouched(job) && !isDone(job, in: journal))
        try FileManager.default.removeItem(at: result)
        try finish(job, in: journal)
        #expect(journal.isUntouched(job))
        // Another old file under the source's name.
        try FileManager.default.removeItem(atPath: source)
        try FileManager.default.createSymbolicLink(
            atPath: source, withDestinationPath: Pictures.path("good/gif-animated.gif"))
        #expect(!journal.isUntouched(job))
        try FileManager.default.removeItem(atPath: source)
        #expect(!journal.isUntouched(job))
    }

    /// Gives a file the time of writing of another.
    private func setTime(of path: String, _ facts: FileFacts) throws {
        let (seconds, rest) = facts.modified.quotientAndRemainder(dividingBy: 1_000_000_000)
        let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
        try #require(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
    }

    @Test("Facts of files don't count if the file has just changed, or the machine has no number of its start")
    func uncertain() throws {
        let job = making("a")
        let facts = try #require(FileFacts(old))
        let changed = Int(facts.changed / 1_000_000_000)
        #expect(JournalSeen.facts(of: job, now: changed + 2) == nil, "It could change again within its time")
        #expect(JournalSeen.facts(of: job, now: changed + 60)?.identity == facts.identity)
        #expect(JournalSeen.number(facts, []) != 0 && JournalSeen.number(nil, []) == 0)
        #expect(JournalSeen.number(facts, [], boot: nil) == 0)
        #expect(JournalSeen.number(facts, [pipectl.path("missing")]) == 0)
        #expect(JournalSeen.number(facts, [pipectl.folder.path]) == 0)
        #expect(JournalSeen.number(facts, [], boot: "1") != JournalSeen.number(facts, [], boot: "2"))
        try Data().write(to: pipectl.folder.appending(path: "empty"))
        // A container may have an empty file in the place of the number.
        for path in ["empty", "missing"] { #expect(JournalSeen.machineStart(in: pipectl.path(path)) == nil, "\(path)") }
    }

    @Test("A closed journal is free, even if a process that is being started still has its descriptor")
    func inherited() throws {
        var copies: [Int32] = []
        defer { for copy in copies { close(copy) } }
        do {
            let journal = try opened()
            try finish(making("a"), in: journal)
            copies = Descriptors.of(pipectl.path("j")).map { dup($0) }
        }
        try #require(!copies.isEmpty)
        #expect(isDone(making("a"), in: try opened()))
    }

    @Test("A journal cut at any byte knows its whole lines alone, and what is added to it")
    func cut() throws {
        do {
            let journal = try opened()
            try finish(making("a"), in: journal)
            try finish(making("b"), in: journal)
        }
        let whole = try pipectl.content("j")
        let ends = whole.indices.filter { whole[$0] == UInt8(ascii: "\n") }
        try #require(ends.count == 6, "the header, the process, and two lines for each job")
        let header = ends[0] + 1
        for length in header...whole.count {
            try Data(whole[..<length]).write(to: pipectl.folder.appending(path: "j"))
            do {
                let journal = try opened()
                #expect(isDone(making("a"), in: journal) == (length >= ends[2]), "\(length)")
                #expect(isDone(making("b"), in: journal) == (length >= ends[4]), "\(length)")
                try finish(making("c"), in: journal)
            }
            let lines = try pipectl.content("j").split(separator: UInt8(ascii: "\n"))
                .map { String(decoding: $0, as: UTF8.self) }
            #expect(lines.contains { $0.hasSuffix("\tprocess\t\(getpid())") && $0.utf8.count < 40 }, "\(length)")
            let journal = try opened()
            #expect(journal.isUntouched(making("c")) && isDone(making("c"), in: journal), "\(length)")
            try FileManager.default.removeItem(atPath: pipectl.path("out/c"))
        }
    }

    @Test("A journal with any damaged byte takes no result for another, nor a missing one for done")
    func damaged() throws {
        do {
            let journal = try opened()
            try finish(making("a"), in: journal)
            try finish(making("b"), in: journal)
        }
        let whole = try pipectl.content("j")
        try FileManager.default.removeItem(atPath: pipectl.path("out/a"))
        try Data([7, 7, 7]).write(to: pipectl.folder.appending(path: "out/b"))
        for index in "# pipectl journal 1\n".utf8.count..<whole.count {
            for bit in [0, 4, 6] {
                var bytes = whole
                bytes[index] ^= 1 << UInt8(bit)
                try Data(bytes).write(to: pipectl.folder.appending(path: "j"))
                let journal = try opened()
                for job in [making("a"), making("b")] {
                    #expect(!journal.isUntouched(job) && !isDone(job, in: journal), "byte \(index), bit \(bit)")
                }
                #expect(!journal.isOwn(pipectl.path("out/b"), making("b"), [1, 2, 3]), "byte \(index), bit \(bit)")
            }
        }
    }

    @Test("The lines are those of earlier versions, with and without the header; later ones are refused")
    func format() throws {
        let digits = String(repeating: "0", count: 63)
        let fields = ["made", "\(digits)1", "\(digits)2", "a%b\t.jpg", "\(BLAKE2bDigest(of: "cat"))"]
        let line = "9bc1b4855a00b78e\tmade\t\(digits)1\t\(digits)2\ta%25b%09.jpg\t\(fields[4])\n"
        #expect(String(decoding: JournalLine.bytes(of: fields), as: UTF8.self) == line)
        #expect(JournalLine.fields(of: Array(line.utf8.dropLast())[...]) == fields)
        let entry = try #require(JournalEntry(fields))
        #expect(entry.line == fields && entry.outputs.first?.digest == BLAKE2bDigest(of: "cat"))
        #expect(JournalSeen.line(0xF00, 0xBA5) == ["seen", "f00", "ba5"])
        for start in ["# pipectl journal 1\n\(line)", line] {
            try Data(start.utf8).write(to: pipectl.folder.appending(path: "j"))
            _ = try opened()
            #expect(try pipectl.content("j").starts(with: start.utf8))
        }
        for start in ["# pipectl journal 2\n\(line)", "# pipectl journal 12\n", "\n\(line)", String(line.dropFirst())] {
            try Data(start.utf8).write(to: pipectl.folder.appending(path: "j"))
            #expect(throws: Journal.Failure.self, "\(start)") { _ = try opened() }
            #expect(try pipectl.content("j") == Array(start.utf8))
        }
    }

    @Test("A journal that was shortened knows the same jobs, and is locked")
    func shortened() throws {
        do {
            let journal = try opened()
            for _ in 0..<600 { try finish(making("a"), in: journal) }
            try finish(making("b"), in: journal)
        }
        let before = try pipectl.content("j").count
        let journal = try opened()
        #expect(try pipectl.content("j").count < before / 100)
        for job in [making("a"), making("b")] { #expect(journal.isUntouched(job) && isDone(job, in: journal)) }
        #expect(throws: Journal.Failure.self) { _ = try opened() }
    }
}

import Foundation
import Pipeline
import TestFixtures
import Testing

@testable import PipelineCommand

@Suite("pipectl batch and long lists")
struct LongListTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-greyscale.jpg", as: "in/a.jpg")
    }

    @Test("The first results come before the list ends")
    func streams() async throws {
        let result = try await pipectl.shell(
            """
            mkdir many; for n in $(seq 70); do ln in/a.jpg many/$n.jpg; done; mkfifo list log
            pipectl batch - -s 8 -o out <list >log & exec 3>list 4<log
            printf '%s\\n' many/*.jpg >&3
            # The list stays open until there is a result.
            timeout 120 head -n 1 <&4 || echo none; exec 3>&-; cat <&4
            """)
        #expect(result.lines.first?.contains(" → out/") == true, "\(result.text) \(result.errors)")
        #expect(result.lines.last?.hasPrefix("70 done") == true, "\(result.text)")
    }

    @Test(
        "A resumed batch doesn't read files that the system says are untouched, and reads the others",
        .withProgram("strace"))
    func untouched() async throws {
        // A file that has just been made can change within its time; this one is as old as the repository's copy.
        let source = Pictures.path("good/jpeg-greyscale.jpg")
        let resumed = """
            strace -f -o calls -e trace=openat,open pipectl batch old.jpg -s 8 -o out --resume --no-isolate
            grep -c -e old.jpg -e out/old.jpg calls
            """
        let result = try await pipectl.shell(
            """
            ln -s '\(source)' old.jpg; pipectl batch old.jpg -s 8 -o out -q
            \(resumed)
            cp out/old.jpg copy; mv copy out/old.jpg
            \(resumed)
            printf x >>out/old.jpg
            \(resumed)
            """)
        #expect(result.lines.filter { $0.hasPrefix("0 done, 1 skipped") }.count == 2, "\(result.text)")
        // A copy of equal bytes was read, and so was a changed file, which isn't replaced.
        #expect(result.lines.filter { Int($0) != nil }.map { $0 == "0" } == [true, false, false], "\(result.text)")
        #expect(result.errors.contains("The file isn't as this batch wrote it"), "\(result.errors)")
    }

    @Test("Says how far the list was read until it is complete")
    func reading() {
        let counts = WorkCounts(done: 1200)
        let bar = ProgressBar(total: 40_000, isComplete: false)
        let line = bar.line(counts, elapsed: .seconds(10), columns: 100)
        #expect(line == "Reading the list: 40,000  1,200 finished  120/s")
        #expect(bar.line(WorkCounts(), elapsed: .zero, columns: 20) == "Reading the list: 4")
    }

    @Test("A list gives back its rows, whatever their folders and errors, and ends with its error")
    func rows() throws {
        let list = SourceList(shard: nil, keepsFiles: false)
        let names = (0..<3000).map { "folder \($0 % 7)/\($0).jpg" }
        for (row, name) in names.enumerated() {
            list.add(BatchSource(input: name, folder: row % 3 == 0 ? "." : "sub/\(row % 5)"))
        }
        list.end(.failure(CancellationError()))
        var read: [BatchSource] = []
        #expect(throws: CancellationError.self) {
            while true { read += try list.next(after: read.count, WorkCancellation()) }
        }
        #expect(read.map(\.input) == names)
        #expect(read.enumerated().allSatisfy { $1.folder == ($0 % 3 == 0 ? "." : "sub/\($0 % 5)") })
    }
}

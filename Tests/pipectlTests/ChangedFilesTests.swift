import Foundation
import TestFixtures
import Testing

@Suite("pipectl batch --resume and files that changed since")
struct ChangedFilesTests {
    private let pipectl: Pipectl
    /// A source that last changed long ago, of which the system's word is taken.
    private let old = Pictures.path("good/jpeg-greyscale.jpg")

    init() throws { pipectl = try Pipectl() }

    /// The last line of each batch.
    private func sums(_ result: Pipectl.Result) -> [String] {
        result.lines.filter { $0.first?.isNumber == true && $0.contains(" done") }
    }

    @Test("A source of the same size and time, but another file or with other bytes, is made again")
    func sameSizeAndTime() async throws {
        let batch = "pipectl batch a.jpg b.jpg -s 8 -o out --journal j --resume --no-isolate"
        // The first is a link to an old file, whose facts are noted at once. A byte of the header changes.
        let result = try await pipectl.shell(
            """
            ln -s '\(old)' a.jpg; cp -p '\(old)' b.jpg
            change() { printf x | dd of=$1 bs=1 seek=12 conv=notrunc status=none; touch -r '\(old)' $1; }
            \(batch); \(batch)
            rm a.jpg; cp -p '\(old)' a.jpg; change a.jpg; change b.jpg
            \(batch); stat -L -c '%s %.9Y' a.jpg b.jpg '\(old)' | uniq | wc -l
            """)
        let counts = sums(result)
        try #require(counts.count == 3 && result.lines.last == "1", "\(result.text) \(result.errors)")
        for (line, start) in zip(counts, ["2 done", "0 done, 2 skipped", "2 done"]) {
            #expect(line.hasPrefix(start), "\(result.text) \(result.errors)")
        }
    }

    @Test("Deleted and replaced results, and other options, are noticed though the source's facts are the same")
    func results() async throws {
        func batch(_ options: String) -> String {
            "pipectl batch a.jpg b.jpg c.jpg -o out --journal j --resume --no-isolate \(options)"
        }
        let result = try await pipectl.shell(
            """
            for n in a b c; do ln -s '\(old)' $n.jpg; done
            \(batch("-s 8")); \(batch("-s 8"))
            rm out/a.jpg; touch -r out/b.jpg time; tr '\\0' '\\1' <out/b.jpg >other; touch -r time other; mv other out/b.jpg
            \(batch("-s 8"))
            rm -r out; \(batch("-s 8 -Q 10"))
            """)
        let counts = sums(result)
        #expect(counts.count == 4, "\(result.text) \(result.errors)")
        for (line, start) in zip(counts, ["3 done", "0 done, 3 skipped", "1 done, 1 skipped, 1 failed", "3 done"]) {
            #expect(line.hasPrefix(start), "\(result.text) \(result.errors)")
        }
        #expect(result.errors.contains("out/b.jpg") && !result.errors.contains("a.jpg"), "\(result.errors)")
    }

    @Test("Of two batches with one journal, the later one is refused, and what the first one wrote is kept")
    func twoBatches() async throws {
        let result = try await pipectl.shell(
            """
            for n in a b; do ln -s '\(old)' $n.jpg; done; mkfifo list log
            pipectl batch - -s 8 -o out --journal j --resume --no-isolate <list >log & exec 3>list 4<log
            echo a.jpg >&3; timeout 120 sh -c 'until [ -s j ]; do :; done'
            pipectl batch a.jpg b.jpg -s 8 -o out --journal j --resume --no-isolate; echo "status $?"
            echo b.jpg >&3; exec 3>&-; cat <&4; wait
            pipectl batch a.jpg b.jpg -s 8 -o out --journal j --resume --no-isolate
            """)
        #expect(result.lines.contains("status 1"), "\(result.text) \(result.errors)")
        #expect(result.errors.contains("another batch is writing to this output"), "\(result.errors)")
        let counts = sums(result)
        #expect(counts.first?.hasPrefix("2 done") == true, "\(result.text) \(result.errors)")
        #expect(result.lines.last?.hasPrefix("0 done, 2 skipped") == true, "\(result.text) \(result.errors)")
    }
}

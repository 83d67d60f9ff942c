import Testing

@testable import PipelineCommand

@Suite("The progress bar")
struct ProgressBarTests {
    private let counts = WorkCounts(done: 400, skipped: 10, failed: 2, bytesIn: 20_000_000, bytesOut: 8_000_000)

    @Test("says how many, how fast, how long still, and how many bytes were saved")
    func fields() {
        let line = ProgressBar(total: 1000).line(counts, elapsed: .seconds(10), columns: 120)
        #expect(line.hasSuffix("  412/1000  41 %  2 failed  41/s  0:15 left  12.0 MB saved"))
        #expect(line.hasPrefix("████████████████░░░░"))
    }

    @Test("never fills the terminal's last column, whatever its width", arguments: 1...200)
    func widths(columns: Int) {
        let line = ProgressBar(total: 1000).line(counts, elapsed: .seconds(10), columns: columns)
        #expect(line.count <= max(1, columns - 1))
        #expect(!line.isEmpty)
    }

    @Test("on a small terminal leaves out the least important first")
    func small() {
        #expect(ProgressBar(total: 1000).line(counts, elapsed: .seconds(10), columns: 16) == "412/1000  41 %")
    }

    @Test("has only ASCII where the terminal knows no more")
    func ascii() {
        let line = ProgressBar(total: 1000, isUnicode: false).line(counts, elapsed: .seconds(10), columns: 100)
        #expect(line.allSatisfy { $0.isASCII })
    }

    @Test("stands at the start and at the end of an empty batch too")
    func ends() {
        #expect(ProgressBar(total: 0).line(WorkCounts(), elapsed: .zero, columns: 80).contains("0/0  100 %"))
        let all = ProgressBar(total: 3).line(WorkCounts(done: 3), elapsed: .seconds(1), columns: 80)
        #expect(all.contains("3/3  100 %  3.0/s") && !all.contains("left"))
    }
}

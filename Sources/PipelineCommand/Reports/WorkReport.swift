import FoundationEssentials
import Pipeline

/// The outcome of one result, as `--json` prints it: an object on a line.
struct WorkReport: Encodable {
    let input: String
    let inputBytes: PathBytes?
    @OrNull var output: String? = nil
    var outputBytes: PathBytes? = nil
    var status: String
    @OrNull var reason: String? = nil
    @OrNull var source: String? = nil
    @OrNull var width: Int? = nil
    @OrNull var height: Int? = nil
    @OrNull var nativeWidth: Int? = nil
    @OrNull var nativeHeight: Int? = nil
    @OrNull var bytesIn: Int? = nil
    @OrNull var bytes: Int? = nil
    @OrNull var ms: Double? = nil
    @OrNull var error: FailureReport? = nil

    init(input: String, output: String? = nil, status: String, reason: String? = nil, error: FailureReport? = nil) {
        self.input = input
        inputBytes = PathBytes(input)
        outputBytes = output.flatMap { PathBytes($0) }
        self.status = status
        (self.output, self.reason, self.error) = (output, reason, error)
    }

    /// An object for each result; a single one for a job without results.
    static func all(_ result: JobResult) -> [WorkReport] {
        let (input, native) = (result.job.input, result.response?.nativeSize)
        switch result.outcome {
        case .skipped(let reason): return [WorkReport(input: input, status: "skipped", reason: reason)]
        case .failed(let error):
            return [WorkReport(input: input, status: "failed", error: FailureReport(error))]
        case .done(let written) where written.isEmpty:
            var report = WorkReport(input: input, status: "done")
            report.source = result.source
            (report.nativeWidth, report.nativeHeight) = (native?.width, native?.height)
            report.ms = (result.duration / .microseconds(1)).rounded() / 1000
            return [report]
        case .done(let written):
            return written.map { written in
                var report = WorkReport(input: input, output: written.path ?? "-", status: "done")
                report.source = result.source
                (report.width, report.height) = (written.size?.width, written.size?.height)
                (report.nativeWidth, report.nativeHeight) = (native?.width, native?.height)
                (report.bytesIn, report.bytes) = (result.bytesIn, written.bytes)
                report.ms = (result.duration / .microseconds(1)).rounded() / 1000
                return report
            }
        }
    }
}

import FoundationEssentials
import Pipeline

/// What became of one result, as `--json` prints it: an object on a line.
struct WorkReport: Encodable {
    struct Failure: Encodable {
        let code: String
        let message: String
    }

    let input: String
    var output: String?
    var status: String
    var reason: String?
    var source: String?
    var width: Int?
    var height: Int?
    var nativeWidth: Int?
    var nativeHeight: Int?
    var bytesIn: Int?
    var bytes: Int?
    var ms: Double?
    var error: Failure?

    /// An object for each result; one where there is none.
    static func all(_ result: JobResult) -> [WorkReport] {
        let input = result.job.input
        switch result.outcome {
        case .skipped(let reason): return [WorkReport(input: input, status: "skipped", reason: reason)]
        case .failed(let error):
            let failure = Failure(code: error.code.rawValue, message: error.description)
            return [WorkReport(input: input, status: "failed", error: failure)]
        case .done(let written) where written.isEmpty:
            var report = WorkReport(input: input, status: "done")
            report.source = result.source?.rawValue
            (report.nativeWidth, report.nativeHeight) = (result.nativeSize?.width, result.nativeSize?.height)
            report.ms = (result.duration / .microseconds(1)).rounded() / 1000
            return [report]
        case .done(let written):
            return written.map { written in
                var report = WorkReport(input: input, output: written.path ?? "-", status: "done")
                report.source = result.source?.rawValue
                (report.width, report.height) = (written.size?.width, written.size?.height)
                (report.nativeWidth, report.nativeHeight) = (result.nativeSize?.width, result.nativeSize?.height)
                (report.bytesIn, report.bytes) = (result.bytesIn, written.bytes)
                report.ms = (result.duration / .microseconds(1)).rounded() / 1000
                return report
            }
        }
    }

    private enum Field: String, CodingKey {
        case input, output, status, reason, source, width, height, nativeWidth, nativeHeight, bytesIn, bytes, ms, error
    }

    /// Writes each field, `null` where there is nothing: a reader need not ask which are there.
    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(input, forKey: .input)
        try fields.encode(output, forKey: .output)
        try fields.encode(status, forKey: .status)
        try fields.encode(reason, forKey: .reason)
        try fields.encode(source, forKey: .source)
        try fields.encode(width, forKey: .width)
        try fields.encode(height, forKey: .height)
        try fields.encode(nativeWidth, forKey: .nativeWidth)
        try fields.encode(nativeHeight, forKey: .nativeHeight)
        try fields.encode(bytesIn, forKey: .bytesIn)
        try fields.encode(bytes, forKey: .bytes)
        try fields.encode(ms, forKey: .ms)
        try fields.encode(error, forKey: .error)
    }
}

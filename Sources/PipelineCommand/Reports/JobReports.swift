import Essentials
import Pipeline

extension Report {
    /// Reports one load.
    init(load result: JobResult) {
        let (response, job) = (result.response, result.job)
        let planned = result.status == "done" ? nil : (try? job.targets.get().first).map { $0.plannedPath ?? "-" }
        func text() -> String? {
            if let reason = result.reason { return "\(job.shown): \(reason)" }
            guard result.written.first.map({ $0.path != nil }) ?? true, let response else { return nil }
            let path = result.written.first?.path.map { " → \(printable($0))" } ?? ""
            let size = response.size.map { "\($0)" } ?? ""
            let native = response.nativeSize.map { $0 == response.size ? "" : " of \($0)" } ?? ""
            return "\(job.shown)\(path): \(size)\(native), \(response.source.rawValue)"
        }
        self.init(
            [
                "input": job.input, "output": result.written.first.map { $0.path ?? "-" } ?? planned,
                "source": response?.source.rawValue, "stale": response?.isStale ?? false,
                "width": response?.size?.width, "height": response?.size?.height,
                "nativeWidth": response?.nativeSize?.width, "nativeHeight": response?.nativeSize?.height,
                "bytes": response?.product.cost, "key": response?.sourceKey?.description,
                "trace": result.trace.entries.map { Report(stage: $0) },
            ], error: result.error, text())
    }

    private init(stage entry: Trace.Entry) {
        let parts = entry.duration.components
        let ms = Double(parts.seconds) * 1000 + (Double(parts.attoseconds) / 1e12).rounded() / 1000
        self.init([
            "stage": entry.stage, "depth": entry.depth, "outcome": entry.outcome.rawValue, "ms": ms,
            "bytes": entry.bytes, "key": entry.key?.description, "note": entry.note,
        ])
    }
}

extension Report {
    /// Reports one result of a job, or a job without results.
    /// - Parameter made: What a result that was made says of itself.
    init(
        _ input: String, output: String? = nil, status: String, reason: String? = nil, error: LoadError? = nil,
        made: Fields = [:], _ text: @autoclosure @escaping () -> String? = nil
    ) {
        var fields: Fields = [
            "input": input, "output": output, "status": status, "reason": reason, "source": nil, "width": nil,
            "height": nil, "nativeWidth": nil, "nativeHeight": nil, "bytesIn": nil, "bytes": nil, "provenance": nil,
            "ms": nil,
        ]
        // A name that isn't UTF-8 can't be given back to the command as a text.
        for (key, path) in [("inputBytes", input), ("outputBytes", output ?? "")] where path.hasPathEscapes {
            fields[key] = Data(path.pathBytes).base64EncodedString()
        }
        self.init(fields.merging(made) { $1 }, error: error, text())
    }
}

extension JobResult {
    /// A report for each result; one for a job without results.
    var reports: [Report] {
        guard status == "done" else {
            return [
                Report(job.input, status: status, reason: reason, error: error, reason.map { "\(job.shown): \($0)" })
            ]
        }
        let native = response?.nativeSize
        let fields: Report.Fields = [
            "source": source, "nativeWidth": native?.width, "nativeHeight": native?.height,
            "provenance": provenance?.rawValue, "ms": (duration / .microseconds(1)).rounded() / 1000,
        ]
        guard !written.isEmpty else {
            return [
                Report(job.input, status: status, made: fields, "\(job.shown): \(response?.source.rawValue ?? "done")")
            ]
        }
        return written.map { file in
            let size = file.size
            let more: Report.Fields = [
                "width": size?.width, "height": size?.height, "bytesIn": bytesIn, "bytes": file.bytes,
            ]
            return Report(
                job.input, output: file.path ?? "-", status: status, made: fields.merging(more) { $1 },
                file.path.map { path in
                    let of = native.map { $0 == size ? "" : " of \($0)" } ?? ""
                    return "\(job.shown) → \(printable(path)): \(size.map { "\($0)" } ?? "")\(of), "
                        + ByteCount.text(file.bytes)
                })
        }
    }
}

/// The summary of a batch in a line.
struct BatchSummary {
    let counts: WorkCounts
    let total: Int
    let seconds: Double

    init(_ counts: WorkCounts, total: Int, time: Duration) {
        (self.counts, self.total) = (counts, total)
        seconds = (time / .milliseconds(1)).rounded() / 1000
    }

    private var left: Int { total - counts.finished }

    /// Its object has the numbers in an object of their own, so that it can't be taken for a result.
    var report: Report {
        let numbers = Report([
            "total": total, "done": counts.done, "skipped": counts.skipped, "failed": counts.failed, "left": left,
            "bytesIn": counts.bytesIn, "bytesOut": counts.bytesOut, "seconds": seconds,
        ])
        return Report(["kind": "summary", "summary": numbers], text)
    }

    private var text: String {
        var parts = ["\(counts.done) done"]
        if counts.skipped > 0 { parts.append("\(counts.skipped) skipped") }
        if counts.failed > 0 { parts.append("\(counts.failed) failed") }
        if left > 0 { parts.append("\(left) remaining (continue with --resume)") }
        if counts.bytesIn > 0 {
            parts.append("\(ByteCount.text(counts.bytesIn)) became \(ByteCount.text(counts.bytesOut))")
        }
        let rate = seconds > 0 ? ", \(OneDecimal.text(Double(counts.done) / seconds))/s" : ""
        return parts.joined(separator: ", ") + " in \(OneDecimal.text(seconds)) s\(rate)"
    }
}

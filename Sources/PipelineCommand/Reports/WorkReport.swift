import Pipeline

extension Report {
    /// Reports one result of a job, or a job without results.
    /// - Parameter made: What a result that was made says of itself.
    init(
        _ input: String, output: String? = nil, status: String, reason: String? = nil, error: LoadError? = nil,
        made: Fields = [:], _ text: @autoclosure @escaping () -> String? = nil
    ) {
        var fields: Fields = [
            "input": input, "output": output, "status": status, "reason": reason, "source": nil, "width": nil,
            "height": nil, "nativeWidth": nil, "nativeHeight": nil, "bytesIn": nil, "bytes": nil, "ms": nil,
        ]
        // Only names that aren't UTF-8 have these.
        if let bytes = PathBytes(input) { fields["inputBytes"] = bytes }
        if let bytes = output.flatMap({ PathBytes($0) }) { fields["outputBytes"] = bytes }
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
            "ms": (duration / .microseconds(1)).rounded() / 1000,
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

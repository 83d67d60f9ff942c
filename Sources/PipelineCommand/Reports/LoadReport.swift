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

import Pipeline

/// One load as `--json` prints it: an object on a line.
struct LoadReport: Encodable {
    struct Stage: Encodable {
        let stage: String
        let depth: Int
        let outcome: String
        let ms: Double
        @OrNull var bytes: Int?
        @OrNull var key: String?
        @OrNull var note: String?
    }

    let input: String
    @OrNull var output: String?
    @OrNull var source: String? = nil
    var stale = false
    @OrNull var width: Int? = nil
    @OrNull var height: Int? = nil
    @OrNull var nativeWidth: Int? = nil
    @OrNull var nativeHeight: Int? = nil
    @OrNull var bytes: Int? = nil
    @OrNull var key: String? = nil
    var trace: [Stage] = []
    @OrNull var error: FailureReport? = nil

    init(_ result: JobResult) {
        input = result.job.input
        switch result.outcome {
        case .done(let written): output = written.first.map { $0.path ?? "-" }
        case .skipped, .failed: output = (try? result.job.targets.get().first).map { $0.plannedPath ?? "-" }
        }
        trace = Self.stages(result.trace)
        if case .failed(let error) = result.outcome {
            self.error = FailureReport(error)
        }
        guard let response = result.response else { return }
        source = response.source.rawValue
        stale = response.isStale
        (width, height) = (response.size?.width, response.size?.height)
        (nativeWidth, nativeHeight) = (response.nativeSize?.width, response.nativeSize?.height)
        bytes = response.product.cost
        key = response.sourceKey?.description
    }

    private static func stages(_ trace: Trace) -> [Stage] {
        trace.entries.map { entry in
            let parts = entry.duration.components
            let ms = Double(parts.seconds) * 1000 + (Double(parts.attoseconds) / 1e12).rounded() / 1000
            return Stage(
                stage: entry.stage, depth: entry.depth, outcome: entry.outcome.rawValue, ms: ms, bytes: entry.bytes,
                key: entry.key?.description, note: entry.note)
        }
    }
}

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

    init(input: String, output: String?, response: LoadResponse) {
        self.input = input
        self.output = output
        source = response.source.rawValue
        stale = response.isStale
        width = response.size?.width
        height = response.size?.height
        nativeWidth = response.nativeSize?.width
        nativeHeight = response.nativeSize?.height
        bytes = response.product.cost
        key = response.sourceKey?.description
        trace = Self.stages(response.trace)
    }

    init(input: String, output: String?, error: LoadError) {
        self.input = input
        self.output = output
        trace = Self.stages(error.trace)
        self.error = FailureReport(error)
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

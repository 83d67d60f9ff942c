import Pipeline

/// One load as `--json` prints it: an object on a line.
struct LoadReport: Encodable {
    struct Stage: Encodable {
        let stage: String
        let depth: Int
        let outcome: String
        let ms: Double
        let bytes: Int?
        let key: String?
        let note: String?

        private enum Field: String, CodingKey { case stage, depth, outcome, ms, bytes, key, note }

        /// Writes each field, `null` where there is nothing.
        func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: Field.self)
            try fields.encode(stage, forKey: .stage)
            try fields.encode(depth, forKey: .depth)
            try fields.encode(outcome, forKey: .outcome)
            try fields.encode(ms, forKey: .ms)
            try fields.encode(bytes, forKey: .bytes)
            try fields.encode(key, forKey: .key)
            try fields.encode(note, forKey: .note)
        }
    }

    struct Failure: Encodable {
        let code: String
        let message: String
    }

    let input: String
    let output: String?
    var source: String?
    var stale = false
    var width: Int?
    var height: Int?
    var nativeWidth: Int?
    var nativeHeight: Int?
    var bytes: Int?
    var key: String?
    var trace: [Stage] = []
    var error: Failure?

    private enum Field: String, CodingKey {
        case input, output, source, stale, width, height, nativeWidth, nativeHeight, bytes, key, trace, error
    }

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
        self.error = Failure(code: error.code.rawValue, message: error.description)
    }

    /// Writes each field, `null` where there is nothing: a reader need not ask which are there.
    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(input, forKey: .input)
        try fields.encode(output, forKey: .output)
        try fields.encode(source, forKey: .source)
        try fields.encode(stale, forKey: .stale)
        try fields.encode(width, forKey: .width)
        try fields.encode(height, forKey: .height)
        try fields.encode(nativeWidth, forKey: .nativeWidth)
        try fields.encode(nativeHeight, forKey: .nativeHeight)
        try fields.encode(bytes, forKey: .bytes)
        try fields.encode(key, forKey: .key)
        try fields.encode(trace, forKey: .trace)
        try fields.encode(error, forKey: .error)
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

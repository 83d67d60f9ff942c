import Pipeline

/// All results of one job, as a line of a journal.
struct JournalEntry {
    /// Identifies the job and the source's bytes.
    let key: BLAKE2bDigest
    /// Identifies the job: its input, the options and the result's path.
    let origin: BLAKE2bDigest
    let outputs: [Output]

    typealias Output = (path: String, digest: BLAKE2bDigest)

    init(key: BLAKE2bDigest, origin: BLAKE2bDigest, outputs: [Output]) {
        (self.key, self.origin, self.outputs) = (key, origin, outputs)
    }

    /// Reads a line back; `nil` if it is another kind of line.
    init?(_ line: [String]) {
        guard line.count >= 5, line.count % 2 == 1, line[0] == "made", let key = BLAKE2bDigest(hex: line[1]),
            let origin = BLAKE2bDigest(hex: line[2])
        else { return nil }
        self.key = key
        self.origin = origin
        outputs = stride(from: 3, to: line.count, by: 2).compactMap { index in
            BLAKE2bDigest(hex: line[index + 1]).map { (line[index], $0) }
        }
    }

    var line: [String] { ["made", "\(key)", "\(origin)"] + outputs.flatMap { [$0.path, "\($0.digest)"] } }

    /// A result of the job, as a number.
    func result(_ output: Output) -> UInt64 { Self.result(of: origin, output) }

    /// A result of a job, as a number.
    static func result(of origin: BLAKE2bDigest, _ output: Output) -> UInt64 {
        // Numbers of this run alone, which no file's maker can foresee.
        var hasher = Hasher()
        hasher.combine(origin.number)
        hasher.combine(output.digest.number)
        for byte in output.path.utf8 { hasher.combine(byte) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

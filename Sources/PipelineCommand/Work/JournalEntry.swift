import Pipeline

/// All results of one job, as a line of a journal.
struct JournalEntry {
    /// Identifies the job and the source's bytes.
    let key: Digest
    /// Identifies the job: its input, the options and the result's path.
    let origin: Digest
    let outputs: [(path: String, digest: Digest)]

    init(key: Digest, origin: Digest, outputs: [(path: String, digest: Digest)]) {
        (self.key, self.origin, self.outputs) = (key, origin, outputs)
    }

    /// Reads a line back; `nil` if it is another kind of line.
    init?(_ line: [String]) {
        guard line.count >= 5, line.count % 2 == 1, line[0] == "made", let key = Digest(hex: line[1]),
            let origin = Digest(hex: line[2])
        else { return nil }
        self.key = key
        self.origin = origin
        outputs = stride(from: 3, to: line.count, by: 2).compactMap { index in
            Digest(hex: line[index + 1]).map { (line[index], $0) }
        }
    }

    var line: [String] { ["made", "\(key)", "\(origin)"] + outputs.flatMap { [$0.path, "\($0.digest)"] } }
}

extension Digest {
    /// Reads back 64 hexadecimal digits.
    init?(hex: String) {
        // A journal may have millions, so no characters are made of them.
        let digits = hex.utf8.compactMap { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            default: nil
            }
        }
        guard digits.count == 64, hex.utf8.count == 64 else { return nil }
        self.init(bytes: stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// The first 16 hexadecimal digits as a number.
    var number: UInt64 { bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
}

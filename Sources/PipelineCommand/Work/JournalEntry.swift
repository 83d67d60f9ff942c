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
        let bytes = stride(from: 0, to: hex.utf8.count, by: 2).compactMap { UInt8(hexDigits: hex.utf8.dropFirst($0)) }
        guard hex.utf8.count == 64 else { return nil }
        self.init(bytes: bytes)
    }

    /// The first 16 hexadecimal digits as a number.
    var number: UInt64 { bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
}

extension UInt8 {
    /// Reads two hexadecimal digits.
    fileprivate init?(hexDigits: Substring.UTF8View) {
        let digits = hexDigits.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 2 else { return nil }
        self = UInt8(digits[0] * 16 + digits[1])
    }
}

import Pipeline

/// A result that a batch has written, or was about to.
struct JournalOutput: Hashable {
    /// The input and the options that it was made of.
    let origin: Digest
    let path: String
    let digest: Digest

    // Swift strings of different bytes may be equal.
    static func == (one: Self, other: Self) -> Bool {
        one.digest == other.digest && one.origin == other.origin && one.path.utf8.elementsEqual(other.path.utf8)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// All results of one job, as a line of a journal.
struct JournalEntry {
    let key: Digest
    let outputs: [JournalOutput]

    init(key: Digest, outputs: [JournalOutput]) {
        self.key = key
        self.outputs = outputs
    }

    /// Reads a line back; `nil` if it is another kind of line.
    init?(_ line: [String]) {
        guard line.count >= 5, line.count % 2 == 1, line[0] == "made", let key = Digest(hex: line[1]),
            let origin = Digest(hex: line[2])
        else { return nil }
        self.key = key
        outputs = stride(from: 3, to: line.count, by: 2).compactMap { index in
            Digest(hex: line[index + 1]).map { JournalOutput(origin: origin, path: line[index], digest: $0) }
        }
    }

    var line: [String] {
        ["made", "\(key)"] + (outputs.first.map { ["\($0.origin)"] } ?? [])
            + outputs.flatMap { [$0.path, "\($0.digest)"] }
    }
}

extension Digest {
    /// Reads back 64 hexadecimal digits.
    init?(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        guard digits.count == 64, hex.utf8.count == 64 else { return nil }
        self.init(bytes: stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) })
    }
}

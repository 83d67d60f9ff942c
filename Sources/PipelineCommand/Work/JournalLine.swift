import LibC
import Pipeline

/// A line of a journal: a digest of the rest, then fields, separated by tabs.
enum JournalLine {
    /// The line, with its end.
    static func bytes(of fields: [String]) -> [UInt8] {
        let text = fields.map(escaped).joined(separator: "\t")
        return Array("\(BLAKE2bDigest(of: text).description.prefix(16))\t\(text)\n".utf8)
    }

    /// Reads a line without its end; `nil` if it is damaged.
    static func fields(of line: ArraySlice<UInt8>) -> [String]? {
        let parts = line.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
        guard parts.count == 2,
            UInt64(String(decoding: parts[0], as: UTF8.self), radix: 16) == BLAKE2bDigest(of: parts[1]).number
        else { return nil }
        return parts[1].split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map {
            unescaped(String(decoding: $0, as: UTF8.self))
        }
    }

    /// Escapes tabs, newlines and percent signs. A path may contain anything but a zero byte.
    private static func escaped(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
                    switch scalar {
                    case "%": Array("%25".unicodeScalars)
                    case "\t": Array("%09".unicodeScalars)
                    case "\n": Array("%0A".unicodeScalars)
                    default: [scalar]
                    }
                }))
    }

    private static func unescaped(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        return text.replacing("%0A", with: "\n").replacing("%09", with: "\t").replacing("%25", with: "%")
    }
}

/// All results of one job, as a line of a journal.
struct JournalEntry {
    /// Identifies the job and the source's bytes.
    let key: BLAKE2bDigest
    /// Identifies the job: its input, the options and the result's path.
    let origin: BLAKE2bDigest
    let outputs: [Output]

    typealias Output = (path: String, digest: BLAKE2bDigest)
}

extension JournalEntry {
    /// Reads a line back; `nil` if it is another kind of line.
    init?(_ line: [String]) {
        guard line.count >= 5, line.count % 2 == 1, line[0] == "made", let key = BLAKE2bDigest(hex: line[1]),
            let origin = BLAKE2bDigest(hex: line[2])
        else { return nil }
        let outputs = stride(from: 3, to: line.count, by: 2).compactMap { index in
            BLAKE2bDigest(hex: line[index + 1]).map { Output(line[index], $0) }
        }
        self.init(key: key, origin: origin, outputs: outputs)
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

/// What the system said about a job's files when the job was done, as a number and as a line of a journal.
enum JournalSeen {
    /// What the system says about a job's file before it is read; `nil` if that can't tell whether it changes later.
    static func facts(of job: Job, now: Int = time(nil)) -> FileFacts? {
        // A file that has just changed can change again without another time.
        job.file.flatMap { Int($0.changed / 1_000_000_000) < now - 3 ? $0 : nil }
    }

    /// The number for files; 0 if it can't tell a changed file.
    /// - Parameters:
    ///   - source: The job's file before it was read.
    ///   - results: The paths of its results.
    static func number(_ source: FileFacts?, _ results: [String], boot: String? = boot) -> UInt64 {
        guard let source, let boot else { return 0 }
        let files = [source] + results.compactMap { FileFacts($0) }
        guard files.count == results.count + 1, files.allSatisfy({ $0.kind == .regular }) else { return 0 }
        let texts = files.map { "\($0.identity.device) \($0.identity.node) \($0.size) \($0.modified) \($0.changed)" }
        return BLAKE2bDigest(of: ([boot] + texts).joined(separator: "\n")).number
    }

    /// Identifies the time since the machine started. A power cut can leave files with the same times and other bytes. Only
    /// Linux has it; elsewhere files are read to know that they haven't changed.
    private static let boot = machineStart(in: "/proc/sys/kernel/random/boot_id")

    /// Reads the number of the machine's start; `nil` without one.
    static func machineStart(in path: String) -> String? {
        guard let bytes = try? StandardStream.readFile(path), !bytes.isEmpty else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func line(_ job: UInt64, _ number: UInt64) -> [String] {
        ["seen", String(job, radix: 16), String(number, radix: 16)]
    }

    /// Reads a line back; `nil` if it is another kind of line.
    static func read(_ line: [String]) -> (job: UInt64, number: UInt64)? {
        guard line.count == 3, line[0] == "seen", let job = UInt64(line[1], radix: 16) else { return nil }
        return (job, UInt64(line[2], radix: 16) ?? 0)
    }
}

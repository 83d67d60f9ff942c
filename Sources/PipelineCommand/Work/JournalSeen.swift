import Glibc
import Pipeline

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

    /// Identifies the time since the machine started. A power cut can leave files with the same times and other bytes.
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

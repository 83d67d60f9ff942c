import Pipeline

/// The files that ended the processes that decoded them. They are refused for a while, so that one file can't keep the pool
/// busy with starting workers.
struct RefusedFiles {
    /// How long a file is refused.
    static let time = Duration.seconds(600)
    /// The error of a refused file.
    static let error = LoadError(
        .undecodable, subject: "",
        "The file ended the processes that decoded it, so it is refused for ten minutes. Get a new copy.")

    private struct Refusal {
        let count: Int
        let end: Int64
    }

    private var files: [BLAKE2bDigest: Refusal] = [:]

    /// Whether some refused file has this many bytes.
    func hasFile(of count: Int) -> Bool { files.values.contains { $0.count == count } }

    /// Whether a file is refused.
    /// - Parameter now: The uptime in nanoseconds.
    mutating func contains(_ digest: BLAKE2bDigest, now: Int64) -> Bool {
        files = files.filter { $0.value.end > now }
        return files[digest] != nil
    }

    mutating func insert(_ digest: BLAKE2bDigest, count: Int, now: Int64) {
        // An attacker's files are all different. The oldest refusals matter least.
        if files.count >= 1000, let oldest = files.min(by: { $0.value.end < $1.value.end }) { files[oldest.key] = nil }
        files[digest] = Refusal(count: count, end: now + Int64(Self.time / .nanoseconds(1)))
    }
}

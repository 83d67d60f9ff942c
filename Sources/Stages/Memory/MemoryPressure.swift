import Essentials
import Pipeline

/// Measures how short of memory this machine or the process's cgroups are, as the Linux kernel reports it.
///
/// Missing reports count as no pressure: other systems, cgroup v1, and kernels without PSI.
struct MemoryPressure: Sendable {
    /// What the kernel reports at one moment.
    struct Reading: Sendable, Equatable {
        /// The share of its limit that the fullest cgroup has in use, without file contents that the kernel can drop.
        var used = 0.0
        /// How long tasks have waited for memory so far, in microseconds; `nil` if that isn't reported.
        var stalled: Int?
    }

    /// The folders of the process's cgroups that have a limit file, the innermost first.
    private let groups: [String]
    /// Where stalls are reported (PSI).
    private let stalls: String?

    /// Finds the files; `nil` if there are none.
    /// - Parameter root: The folder that holds `proc` and `sys`.
    init?(root: String = "/") {
        let base = root + "sys/fs/cgroup"
        let lines = Self.text(root + "proc/self/cgroup")?.split(separator: "\n") ?? []
        // The one line of cgroup v2 (cgroups(7)).
        var path = lines.first { $0.hasPrefix("0::/") }.map { String($0.dropFirst(3)) } ?? "/"
        var groups: [String] = []
        while true {
            let folder = path == "/" ? base : base + path
            if Self.text(folder + "/memory.max") != nil { groups.append(folder) }
            guard path.count > 1, let slash = path.lastIndex(of: "/") else { break }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
        let pressures = groups.prefix(1).map { $0 + "/memory.pressure" } + [root + "proc/pressure/memory"]
        stalls = pressures.first { Self.text($0) != nil }
        self.groups = groups
        if groups.isEmpty, stalls == nil { return nil }
    }

    /// Reads what the kernel reports now.
    func read() -> Reading {
        Reading(used: groups.map(used).max() ?? 0, stalled: stalls.flatMap(Self.text).flatMap(Self.stalled))
    }

    /// Whether memory is short: 90 % of a limit are in use, or tasks waited for memory a tenth of the time since an earlier
    /// reading.
    static func isShort(_ reading: Reading, since earlier: Reading?, after time: Duration) -> Bool {
        if reading.used >= 0.9 { return true }
        guard let now = reading.stalled, let before = earlier?.stalled else { return false }
        return Double(now) - Double(before) >= time.seconds * 100_000
    }

    private func used(_ group: String) -> Double {
        let limits = ["/memory.max", "/memory.high"].compactMap { Self.number(group + $0) }
        guard let limit = limits.min(), limit > 0, let current = Self.number(group + "/memory.current") else {
            return 0
        }
        let statistics = Self.text(group + "/memory.stat")?.split(separator: "\n") ?? []
        let droppable = statistics.first { $0.hasPrefix("inactive_file ") }.flatMap { Double($0.dropFirst(14)) } ?? 0
        return (current - droppable) / limit
    }

    /// The total of a PSI file's first line, such as `some avg10=0.00 avg60=0.00 avg300=0.00 total=1234`.
    private static func stalled(_ text: String) -> Int? {
        text.split(separator: "\n").first { $0.hasPrefix("some ") }?.split(separator: "total=").last.flatMap { Int($0) }
    }

    /// The number that a file holds; `nil` for `max`.
    private static func number(_ path: String) -> Double? {
        text(path)?.split(separator: "\n").first.flatMap { Double($0) }
    }

    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}

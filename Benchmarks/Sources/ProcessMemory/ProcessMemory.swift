import Foundation

/// The memory of this process in megabytes, as the kernel counts it.
public enum ProcessMemory {
    /// The current resident size.
    public static var resident: Double { field("VmRSS") }
    /// The peak resident size.
    public static var peak: Double { field("VmHWM") }

    /// Restarts the measurement of the peak; returns the resident size now.
    public static func restartPeak() -> Double {
        // 5 resets the peak (proc(5)).
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        return resident
    }

    private static func field(_ name: String) -> Double {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let kilobytes = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Double($0) })
        else { return .nan }
        return kilobytes / 1024
    }
}

import Essentials
import LibC

/// What Prometheus's clients tell of their process, under the names that dashboards know.
struct ProcessFigures: Sendable {
    private let start = Date().timeIntervalSince1970

    /// The figures as Prometheus reads them; fewer where the system doesn't tell them.
    var text: String {
        var text = ""
        func add(_ name: String, _ type: String, _ help: String, _ value: Double?) {
            guard let value else { return }
            text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n\(name) \(value)\n"
        }
        add("process_resident_memory_bytes", "gauge", "Resident memory of the server, decoders not counted.", resident)
        add(
            "process_cpu_seconds_total", "counter", "Processor time of the server, decoders not counted.", processorTime
        )
        add("process_open_fds", "gauge", "Open files and connections.", openFiles)
        add("process_max_fds", "gauge", "The most files and connections that may be open.", mostFiles)
        add("process_start_time_seconds", "gauge", "When the server started, in seconds since 1970.", start)
        return text
    }

    private var resident: Double? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        return text.split(separator: " ").dropFirst().first.flatMap { Double($0) }.map { $0 * Double(getpagesize()) }
    }

    private var processorTime: Double? {
        var usage = rusage()
        guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return nil }
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }

    private var openFiles: Double? {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { Double($0.count) }
    }

    private var mostFiles: Double? {
        var limits = rlimit()
        return getrlimit(.files, &limits) == 0 ? Double(limits.rlim_cur) : nil
    }
}

extension __rlimit_resource_t {
    /// Of open files.
    static let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}

import Essentials
import HTTPTypes
import LibC
import Pipeline
import Synchronization

/// Writes a line for each request: a JSON object with what was asked, what came of it and how long it took. `request` is the
/// number that a problem document has too, and `trace` that of the client's trace (W3C Trace Context).
public final class RequestLog: Sendable {
    /// Which requests get a line.
    public enum Level: String, CaseIterable, Sendable {
        /// All.
        case all
        /// Those whose status is 400 or more, those that got a fallback, and those that were cancelled.
        case errors
        /// None.
        case none
    }

    /// A request that was answered.
    struct Entry: Sendable {
        let id: RequestID
        let method: String
        /// The path without the query.
        let path: String
        /// `nil` for a request that was cancelled.
        let status: Int?
        let bytes: Int
        let time: Duration
        let client: String
        /// The tenant whose key has signed the path; `nil` for none.
        let tenant: String?
        /// Where the result came from, or why there is none.
        let note: String?

        fileprivate func line(_ now: Date) -> String {
            "{\"time\":\"\(now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))\","
                + "\"level\":\"\((status ?? 0) >= 500 ? "error" : "info")\",\"request\":\"\(id.span)\","
                + "\"trace\":\"\(id.trace)\",\"method\":\(method.jsonText),\"path\":\(path.jsonText),"
                + "\"status\":\(status.map(String.init) ?? "null"),\"bytes\":\(bytes),\"ms\":\(time.millisecondsText),"
                + "\"client\":\(client.jsonText)\(tenant.map { ",\"tenant\":\($0.jsonText)" } ?? "")"
                + "\(note.map { ",\"note\":\($0.jsonText)" } ?? "")}\n"
        }
    }

    private let level: Level
    private let thread = SerialThread(name: "request-log")
    private let write: @Sendable (String) -> Void
    private let waiting = Atomic<Int>(0)
    private let dropped = Atomic<Int>(0)
    /// A log that nobody reads mustn't fill the memory.
    private static let mostWaiting = 10_000

    /// Makes a log.
    /// - Parameters:
    ///   - level: Which requests get a line.
    ///   - write: Writes a line with its end, on a thread of its own; by default to standard error.
    public init(_ level: Level, write: @escaping @Sendable (String) -> Void = RequestLog.writeToStandardError) {
        (self.level, self.write) = (level, write)
    }

    /// Writes the line of a request, if it gets one. The entry is made only then.
    func add(status: Int?, isFallback: Bool = false, _ entry: () -> Entry) {
        guard level == .all || level == .errors && (isFallback || (status ?? 499) >= 400) else { return }
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.mostWaiting else {
            waiting.subtract(1, ordering: .relaxed)
            dropped.add(1, ordering: .relaxed)
            return
        }
        let (entry, now) = (entry(), Date())
        thread.run { [self] in
            write(entry.line(now))
            waiting.subtract(1, ordering: .relaxed)
            let lost = dropped.exchange(0, ordering: .relaxed)
            if lost > 0 { write("{\"level\":\"error\",\"note\":\"\(lost) lines were dropped\"}\n") }
        }
    }

    /// Returns once all lines are written.
    public func flush() async {
        await withCheckedContinuation { continuation in thread.run { continuation.resume() } }
    }

    /// Writes a text to standard error.
    public static func writeToStandardError(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { LibC.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            // A log that can't be written isn't a reason to answer nobody.
            guard count > 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(0, count))
        }
    }
}

/// A request's number of its own, and that of the trace that it belongs to (W3C Trace Context).
struct RequestID: Sendable {
    /// 32 hexadecimal digits: the client's, or else new ones.
    let trace: String
    /// 16 hexadecimal digits.
    let span: String

    /// - Parameter parent: The field `traceparent`: `VERSION-TRACE-SPAN-FLAGS`.
    init(parent: String?) {
        func digits(_ number: UInt64) -> String {
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        func isDigits(_ text: Substring, _ count: Int) -> Bool {
            text.utf8.count == count && text.allSatisfy { "0123456789abcdef".contains($0) }
                && text.contains { $0 != "0" }
        }
        let parts = parent?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        span = digits(.random(in: 1...UInt64.max))
        if parts.count >= 4, parts[0].utf8.count == 2, parts[0] != "ff", isDigits(parts[1], 32), isDigits(parts[2], 16)
        {
            trace = String(parts[1])
        } else {
            trace = digits(.random(in: 1...UInt64.max)) + digits(.random(in: 0...UInt64.max))
        }
    }
}

extension HTTPField.Name {
    static let traceParent = name("traceparent")
}

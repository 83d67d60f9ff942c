import Dispatch
import Foundation
import HTTPTypes
import Synchronization

/// Writes a line for each request to standard error: a JSON object with what was asked, what came of it and how long it took.
final class RequestLog: Sendable {
    /// Which requests get a line.
    enum Level: String, CaseIterable, Sendable {
        /// All.
        case all
        /// Those whose status is 400 or more, and those that were cancelled.
        case errors
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
        /// Where the result came from, or why there is none.
        let note: String?

        fileprivate func line(_ now: Date) -> String {
            "{\"time\":\"\(now.ISO8601Format(.iso8601(timeZone: .gmt, includingFractionalSeconds: true)))\","
                + "\"level\":\"\((status ?? 0) >= 500 ? "error" : "info")\",\"request\":\"\(id.span)\","
                + "\"trace\":\"\(id.trace)\",\"method\":\(method.jsonText),\"path\":\(path.jsonText),"
                + "\"status\":\(status.map(String.init) ?? "null"),\"bytes\":\(bytes),\"ms\":\(time.milliseconds),"
                + "\"client\":\(client.jsonText)\(note.map { ",\"note\":\($0.jsonText)" } ?? "")}\n"
        }
    }

    private let level: Level
    private let queue = DispatchQueue(label: "request-log")
    private let write: @Sendable (String) -> Void
    private let waiting = Atomic<Int>(0)
    private let dropped = Atomic<Int>(0)
    /// A log that nobody reads mustn't fill the memory.
    private static let mostWaiting = 10_000

    /// - Parameters:
    ///   - level: Which requests get a line.
    ///   - write: Writes a line, on a thread of its own.
    init(
        _ level: Level, write: @escaping @Sendable (String) -> Void = { FileHandle.standardError.write(Data($0.utf8)) }
    ) {
        (self.level, self.write) = (level, write)
    }

    /// Writes the line of a request, if it gets one. The entry is made only then.
    func add(status: Int?, _ entry: () -> Entry) {
        guard level == .all || level == .errors && (status ?? 499) >= 400 else { return }
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.mostWaiting else {
            waiting.subtract(1, ordering: .relaxed)
            dropped.add(1, ordering: .relaxed)
            return
        }
        let (entry, now) = (entry(), Date())
        queue.async { [self] in
            write(entry.line(now))
            waiting.subtract(1, ordering: .relaxed)
            let lost = dropped.exchange(0, ordering: .relaxed)
            if lost > 0 { write("{\"level\":\"error\",\"note\":\"\(lost) lines were dropped\"}\n") }
        }
    }

    /// Returns once all lines are written.
    func flush() { queue.sync {} }
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

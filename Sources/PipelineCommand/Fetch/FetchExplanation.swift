import FoundationEssentials
import Pipeline
import Stages

/// Explains a fetch for people: what was stored, the arithmetic of its freshness, what was sent, what came back.
struct FetchExplanation: CustomStringConvertible {
    let description: String

    init(_ response: CachingResponse) {
        var lines = response.steps.flatMap(Self.lines)
        lines.append(
            "→ \(response.status) \(response.reason), \(response.body.count) bytes, from cache: \(response.use.rawValue)"
        )
        description = lines.joined(separator: "\n")
    }

    private static func lines(_ step: CachingStep) -> [String] {
        var lines = [redactedURL(step.url.absoluteString)]
        switch step.lookup {
        case nil: lines.append("  the cache was not asked")
        case .miss(let reason): lines.append("  stored: \(reason)")
        case .fresh(let stored, let freshness), .stale(let stored, let freshness):
            lines += entry("stored", stored, freshness)
        }
        lines += step.notes.map { "  \($0)" }
        if let sent = step.sent {
            lines += ["  sent, besides Host and User-Agent:"] + fields(RedactedFields(sent).pairs)
        }
        if let status = step.status, let received = step.received {
            lines += ["  came back: \(status)"] + fields(RedactedFields(received).pairs)
        }
        if let stored = step.stored { lines += entry("stored now", stored.response, stored.freshness) }
        return lines
    }

    private static func entry(_ title: String, _ stored: StoredResponse, _ freshness: Freshness) -> [String] {
        let age = seconds(stored.responseTime, freshness.judged)
        var lines = ["  \(title): \(stored.status), \(stored.body.count) bytes, arrived or confirmed \(age) s ago"]
        lines += fields(RedactedFields(stored.headers).pairs)
        lines.append("  freshness: \(freshness)")
        if let end = freshness.freshUntil, freshness.mayBeServed {
            lines.append(
                "    it turns stale at \(end.formatted(.iso8601)), or before that for a request that says no-cache, a "
                    + "max-age below its age or a min-fresh above what is left, and when a POST, PUT or DELETE succeeds"
            )
        }
        let allowed = [
            freshness.mayBeServedWhileRevalidating ? "while it is revalidated" : nil,
            freshness.mayBeServedOnError ? "if the origin answers with 500, 502, 503 or 504" : nil,
            freshness.mayBeServedWhenUnreachable ? "if the origin can't be reached" : nil,
        ].compactMap(\.self)
        if !freshness.mayBeServed {
            lines.append(
                "    may be served stale: " + (allowed.isEmpty ? "never" : allowed.joined(separator: ", ")))
        }
        return lines
    }

    private static func fields(_ pairs: [[String]]) -> [String] {
        pairs.map { "    \($0[0]): \($0[1])" }
    }

    private static func seconds(_ start: Date, _ end: Date) -> Int { Int(max(0, end.timeIntervalSince(start))) }
}

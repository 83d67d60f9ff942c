import Essentials
import HTTPTypes
import Pipeline
import Stages

extension Report {
    /// Reports one fetch, redacted.
    init(fetch url: String, _ response: CachingResponse? = nil, error: LoadError? = nil, _ text: String? = nil) {
        self.init(
            [
                "url": redactedURL(url), "status": response?.status, "statusText": response?.reason,
                "headers": response.map { RedactedFields.pairs($0.headers) }, "bytes": response?.body.count,
                "fromCache": response?.use.rawValue, "steps": response?.steps.map { Report(step: $0) } ?? [],
            ], error: error, text)
    }

    /// One request. Redirects that were followed add more.
    private init(step: CachingStep) {
        let found =
            switch step.lookup {
            case .fresh(let stored, let freshness), .stale(let stored, let freshness): Report(stored, freshness)
            default: Report?.none
            }
        self.init(present: [
            "url": redactedURL(step.url.absoluteString), "found": found, "notes": step.notes,
            "sent": step.sent.map { RedactedFields.pairs($0) }, "status": step.status,
            "received": step.received.map { RedactedFields.pairs($0) },
            "stored": step.stored.map { Report($0.response, $0.freshness) },
        ])
    }

    /// A stored entry and its freshness.
    private init(_ stored: StoredResponse, _ freshness: Freshness) {
        self.init(present: [
            "target": redactedURL(stored.target), "status": stored.status, "bytes": stored.body.count,
            "headers": RedactedFields.pairs(stored.headers), "age": freshness.ageField,
            "lifetime": freshness.lifetime.map { Int($0.components.seconds) }, "basis": freshness.basis.rawValue,
            "remaining": freshness.remaining.map { Int($0.components.seconds) }, "verdict": freshness.verdict.rawValue,
        ])
    }
}

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
            lines += ["  sent, besides Host and User-Agent:"] + fields(RedactedFields.pairs(sent))
        }
        if let status = step.status, let received = step.received {
            lines += ["  came back: \(status)"] + fields(RedactedFields.pairs(received))
        }
        if let stored = step.stored { lines += entry("stored now", stored.response, stored.freshness) }
        return lines
    }

    private static func entry(_ title: String, _ stored: StoredResponse, _ freshness: Freshness) -> [String] {
        let age = seconds(stored.responseTime, freshness.judged)
        var lines = ["  \(title): \(stored.status), \(stored.body.count) bytes, arrived or confirmed \(age) s ago"]
        lines += fields(RedactedFields.pairs(stored.headers))
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

/// Header fields as they may be shown: credentials and the values of URLs' queries are replaced by `…`.
enum RedactedFields {
    /// Pairs of a name and a value.
    static func pairs(_ fields: HTTPFields) -> [[String]] { fields.map { [$0.name.rawName, value($0)] } }

    private static func value(_ field: HTTPField) -> String {
        let name = field.name.canonicalName
        if credentials.contains(name) || secretWords.contains(where: { name.contains($0) }) { return "…" }
        switch field.name {
        case .location, .contentLocation, .referer: return redactedURL(field.value)
        case HTTPField.Name("Link"): return links(field.value)
        default: return printable(field.value)
        }
    }

    /// The targets in angle brackets (RFC 8288 section 3).
    private static func links(_ value: String) -> String {
        value.split(separator: "<", omittingEmptySubsequences: false).enumerated().map { index, part in
            guard index > 0, let end = part.firstIndex(of: ">") else { return printable(part) }
            return "<" + redactedURL(String(part[..<end])) + printable(part[end...])
        }.joined()
    }

    private static let credentials: Set<String> = [
        "authorization", "cookie", "proxy-authorization", "set-cookie", "set-cookie2",
    ]

    /// Words in the names of custom fields that hold a secret.
    private static let secretWords = ["token", "secret", "password", "api-key", "apikey", "credential", "signature"]
}

extension HTTPFields {
    /// The fields in their order, each byte of a value as a code point (ISO-8859-1).
    var pairs: [[String]] { map { [$0.name.rawName, $0.latin1] } }
}

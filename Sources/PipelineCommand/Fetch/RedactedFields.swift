import HTTPTypes
import Pipeline
import Stages

/// Header fields as they may be shown: credentials and the values of URLs' queries are replaced by `…`.
struct RedactedFields {
    /// Pairs of a name and a value.
    let pairs: [[String]]

    init(_ fields: HTTPFields) { pairs = fields.map { [$0.name.rawName, Self.value($0)] } }

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

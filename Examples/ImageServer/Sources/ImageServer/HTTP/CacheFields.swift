import FoundationEssentials
import Stages

/// How long caches may keep a picture: what the origin says of its source, to browsers and to shared caches each (RFC 9111
/// section 5.2.2).
struct CacheFields: Sendable {
    let control: String
    /// In seconds; `nil` without an origin.
    let age: Int?

    /// - Parameters:
    ///   - response: What was loaded.
    ///   - now: The time.
    ///   - maxAge: How long pictures of files are fresh, in seconds.
    init(_ response: LoadResponse, now: Date, maxAge: Int) {
        age = response.confirmedAt.map { max(0, Int(now.timeIntervalSince($0).rounded())) }
        guard let end = response.freshUntil else {
            control = "max-age=\(maxAge)"
            return
        }
        let directives = Self.directives(response.originCacheControl ?? "")
        guard directives["no-store"] == nil else {
            control = "no-store"
            return
        }
        var parts = ["private", "public"].filter { directives[$0] == "" }
        if directives["no-cache"] == "" {
            parts.append("no-cache")
        } else {
            // Caches measure lifetimes from the origin's response; Age tells them how long ago that was.
            let left = Int(end.timeIntervalSince(now).rounded())
            let lifetime = min(max(0, left + (age ?? 0)), 31_536_000)
            if let shared = directives["s-maxage"].flatMap({ Int($0) }) {
                // What caches before this one have used up of the one lifetime they have used up of the other.
                let own = directives["max-age"].flatMap { Int($0) }.map { max(0, min($0, $0 - (shared - lifetime))) }
                parts += ["max-age=\(own ?? lifetime)", "s-maxage=\(lifetime)"]
            } else {
                parts.append("max-age=\(lifetime)")
            }
        }
        parts += ["must-revalidate", "proxy-revalidate", "immutable"].filter { directives[$0] != nil }
        parts += ["stale-while-revalidate", "stale-if-error"].compactMap { name in
            directives[name].flatMap { Int($0) }.map { "\(name)=\($0)" }
        }
        control = parts.joined(separator: ", ")
    }

    /// The directives by their names in lower case, with their arguments. Those of `private` and `no-cache` name fields of
    /// the origin, which aren't passed on.
    private static func directives(_ field: String) -> [String: String] {
        var directives: [String: String] = [:]
        // A comma inside quotation marks makes parts that aren't names of directives.
        for part in field.split(separator: ",") {
            let words = part.split(separator: "=", maxSplits: 1).map {
                $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
            }
            guard let name = words.first?.lowercased(), directives[name] == nil else { continue }
            directives[name] = words.count == 2 ? words[1] : ""
        }
        return directives
    }
}

/// What an origin says of a source to caches, in a form from which a result's own field is quickly made (RFC 9111 section
/// 5.2.2).
struct OriginCacheControl: Sendable {
    private let isStored: Bool
    private let isConfirmed: Bool
    private let maxAge, sharedMaxAge: Int?
    /// The directives that are passed on as they are, before the lifetime and after it.
    private let before, flags, times: String

    /// - Parameter field: The origin's `Cache-Control`; empty without one.
    init(_ field: String) {
        var directives: [String: String] = [:]
        // A comma inside quotation marks makes parts that aren't names of directives.
        for part in field.split(separator: ",") {
            let words = part.split(separator: "=", maxSplits: 1).map {
                $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
            }
            guard let name = words.first?.lowercased(), directives[name] == nil else { continue }
            directives[name] = words.count == 2 ? words[1] : ""
        }
        isStored = directives["no-store"] == nil
        // Arguments of `private` and `no-cache` name fields of the origin, which aren't passed on.
        isConfirmed = directives["no-cache"] == ""
        maxAge = directives["max-age"].flatMap { Int($0) }
        sharedMaxAge = directives["s-maxage"].flatMap { Int($0) }
        before = ["private", "public"].filter { directives[$0] == "" }.map { $0 + ", " }.joined()
        flags = ["must-revalidate", "proxy-revalidate", "immutable"].filter { directives[$0] != nil }
            .map { ", " + $0 }.joined()
        times = ["stale-while-revalidate", "stale-if-error"].compactMap { name in
            directives[name].flatMap { Int($0) }.map { ", \(name)=\($0)" }
        }.joined()
    }

    /// What several origins say of a result that has something of each: all that limits caches, and no lifetime.
    init(ofAll fields: [String]) {
        let all = fields.map { field in field.split(separator: ",").map { $0.filter { !$0.isWhitespace }.lowercased() }
        }
        let limits = ["private", "no-store", "no-cache", "must-revalidate", "proxy-revalidate"].filter { name in
            all.contains { $0.contains(name) }
        }
        let isPublic = all.allSatisfy { $0.contains("public") }
        self.init((limits + (isPublic ? ["public"] : [])).joined(separator: ","))
    }

    /// The field of a result, to browsers and to shared caches each.
    /// - Parameters:
    ///   - lifetime: How long the source is fresh for this server, in seconds from the origin's response on.
    ///   - limit: How long the result's path is valid, from then on: no cache gives the result afterwards.
    func field(lifetime: Int, limit: Int? = nil) -> String {
        guard isStored else { return "no-store" }
        // A cache may give a stale result only for as long as the path is valid, which it can't know.
        let after = flags + (limit == nil ? times : ", must-revalidate")
        func limited(_ seconds: Int) -> Int { min(seconds, limit ?? seconds) }
        if isConfirmed { return "\(before)no-cache\(after)" }
        guard let sharedMaxAge else { return "\(before)max-age=\(limited(lifetime))\(after)" }
        // What caches before this one have used up of the one lifetime they have used up of the other.
        let own = maxAge.map { max(0, min($0, $0 - (sharedMaxAge - lifetime))) } ?? lifetime
        return "\(before)max-age=\(limited(own)), s-maxage=\(limited(lifetime))\(after)"
    }
}

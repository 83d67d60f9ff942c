/// A request of the model: who sends it, and what it wishes of caches.
struct ModelRequest: Sendable, Equatable {
    /// The fields by which origins know users, by name.
    var credentials: [String: String] = [:]
    /// A field that may say who the user is, though no list names it.
    var theme: String?
    /// A field that says nothing of the user.
    var language: String?

    var noCache = false
    var pragma = false
    var noStore = false
    var onlyIfCached = false
    var maxAge: Int?
    var minFresh: Int?
    /// `.max` for any staleness.
    var maxStale: Int?

    /// Whether the request wishes anything of caches.
    var wishes: Bool {
        noCache || pragma || noStore || onlyIfCached || maxAge != nil || minFresh != nil || maxStale != nil
    }

    /// The fields that are not for caches, by name.
    var named: [String: String] {
        var named = credentials
        named["X-Theme"] = theme
        named["Accept-Language"] = language
        return named
    }

    var fields: [String] {
        var fields = named.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        var control: [String] = []
        if noCache { control.append("no-cache") }
        if noStore { control.append("no-store") }
        if onlyIfCached { control.append("only-if-cached") }
        if let maxAge { control.append("max-age=\(maxAge)") }
        if let minFresh { control.append("min-fresh=\(minFresh)") }
        if let maxStale { control.append(maxStale == .max ? "max-stale" : "max-stale=\(maxStale)") }
        if !control.isEmpty { fields.append("Cache-Control: \(control.joined(separator: ", "))") }
        if pragma { fields.append("Pragma: no-cache") }
        return fields
    }
}

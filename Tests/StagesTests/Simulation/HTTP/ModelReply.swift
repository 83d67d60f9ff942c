/// What an origin of the model says, as values: the model never reads a header field's text.
struct ModelReply: Sendable, CustomStringConvertible {
    /// An entity tag (RFC 9110 section 8.8.3).
    struct Tag: Sendable, Equatable {
        let text: String
        let isWeak: Bool

        var field: String { (isWeak ? "W/" : "") + "\"\(text)\"" }
    }

    /// Cache-Control, Expires and Vary.
    struct Terms: Sendable {
        var maxAge: Int?
        var sharedMaxAge: Int?
        /// Seconds from Date to Expires.
        var expires: Int?
        var noCache = false
        var noStore = false
        var isPrivate = false
        var isPublic = false
        var mustRevalidate = false
        var staleWhileRevalidate: Int?
        var staleIfError: Int?
        var vary: [String] = []

        /// Whether there is a Cache-Control at all.
        var hasControl: Bool {
            maxAge != nil || sharedMaxAge != nil || noCache || noStore || isPrivate || isPublic || mustRevalidate
                || staleWhileRevalidate != nil || staleIfError != nil
        }
    }

    enum Kind: Sendable, Equatable {
        case picture
        case redirect(status: Int, to: String)
        /// 404 with no-store.
        case gone
        case notModified
        case serverError
        case unreachable
    }

    var kind: Kind
    var terms = Terms()
    /// Whether it has Cache-Control, Expires or Vary at all: a 304 may leave them as they were.
    var saysTerms = true
    /// The number of this reply among those of its path: what a picture shows.
    var serial = ""
    var tag: Tag?
    /// In whole seconds of the origin's time.
    var lastModified: Int?
    /// In whole seconds of the origin's time; `nil` for a reply without Date.
    var date: Int?
    var age: Int?

    var status: Int {
        switch kind {
        case .picture: 200
        case .redirect(let status, _): status
        case .gone: 404
        case .notModified: 304
        case .serverError: 503
        case .unreachable: 0
        }
    }

    var description: String { "\(serial) \(kind == .unreachable ? "unreachable" : "\(status)") \(scripted.fields)" }

    /// The reply as the origin sends it.
    var scripted: Scenario.Reply {
        if kind == .unreachable { return .unreachable }
        var reply = Scenario.Reply(status: status)
        if kind == .picture { reply.image = serial }
        if case .redirect(_, let path) = kind { reply.fields.append("Location: \(path)") }
        var control: [String] = []
        if let seconds = terms.maxAge { control.append("max-age=\(seconds)") }
        if let seconds = terms.sharedMaxAge { control.append("s-maxage=\(seconds)") }
        if terms.noCache { control.append("no-cache") }
        if terms.noStore { control.append("no-store") }
        if terms.isPrivate { control.append("private") }
        if terms.isPublic { control.append("public") }
        if terms.mustRevalidate { control.append("must-revalidate") }
        if let seconds = terms.staleWhileRevalidate { control.append("stale-while-revalidate=\(seconds)") }
        if let seconds = terms.staleIfError { control.append("stale-if-error=\(seconds)") }
        if !control.isEmpty { reply.fields.append("Cache-Control: \(control.joined(separator: ", "))") }
        if !terms.vary.isEmpty { reply.fields.append("Vary: \(terms.vary.joined(separator: ", "))") }
        if let tag { reply.fields.append("ETag: \(tag.field)") }
        if let lastModified { reply.fields.append("Last-Modified: {\(lastModified)}") }
        if let date { reply.fields.append("Date: {\(date)}") }
        if let expires = terms.expires, let date { reply.fields.append("Expires: {\(date + expires)}") }
        if let age { reply.fields.append("Age: \(age)") }
        return reply
    }
}

import Essentials
import HTTPTypes
import Pipeline

/// Whether a response may be stored (RFC 9111 section 3): a pure function of the exchange.
enum Storability: Sendable, Hashable {
    case storable
    /// It must not be stored, for this reason.
    case refused(String)

    /// - Parameters:
    ///   - isShared: whether the cache serves several users (section 1.2.3).
    ///   - callerDecides: whether the caller decides the lifetime of images, and so of the redirects that lead to them.
    ///   - overrulesNoStore: whether a response that says `no-store` is storable anyway.
    init(
        of exchange: HTTPExchange, isShared: Bool = false, callerDecides: Bool = false, overrulesNoStore: Bool = false
    ) {
        let reason = Self.refusal(
            of: exchange, isShared: isShared, callerDecides: callerDecides, overrulesNoStore: overrulesNoStore)
        self = reason.map(Storability.refused) ?? .storable
    }

    private static func refusal(
        of exchange: HTTPExchange, isShared: Bool, callerDecides: Bool, overrulesNoStore: Bool
    ) -> String? {
        let control = CacheControl(response: exchange.headers, isShared: isShared)
        let status = exchange.status
        if exchange.method != .get, !isPostAboutItsTarget(exchange, control, isShared: isShared) {
            return "the method is \(exchange.method), not GET"
        }
        if !(200...599).contains(status) { return "the status \(status) is not final" }
        if status == 206 || status == 304 { return "the response \(status) is not whole" }
        if CacheControl(exchange.requestHeaders).contains("no-store") { return "the request says no-store" }
        if control.contains("must-understand") {
            // Section 5.2.2.3: a cache that knows the status follows the other rules and ignores no-store.
            if !understood.contains(status) { return "the response says must-understand of the status \(status)" }
        } else if control.contains("no-store"), !overrulesNoStore {
            return "the response says no-store"
        }
        if isShared {
            if control.isUnqualified("private") { return "the response is private and the cache is shared" }
            if exchange.requestHeaders.contains(.authorization), !allowsShared(control) {
                return "the request has Authorization and the cache is shared"
            }
            if setsCookie(exchange.headers), !control.contains("public") {
                return "the response has Set-Cookie, isn't public, and the cache is shared"
            }
        }
        if SelectingFields(vary: exchange.headers, request: exchange.requestHeaders) == nil {
            return "Vary: * fits no other request"
        }
        if let length = exchange.headers[values: .contentLength].first.flatMap({ Int($0) }) {
            // A client that has decoded the body may leave both fields; the length is that of the encoded bytes then.
            let isDecoded = exchange.headers.contains(.contentEncoding) && exchange.body.count > length
            if exchange.body.count != length, !isDecoded {
                return "\(exchange.body.count) of \(length) bytes arrived"
            }
        }
        if callerDecides, status.isRedirect { return nil }
        return isCacheable(exchange, control, isShared: isShared) ? nil : "nothing makes the status \(status) cacheable"
    }

    /// Whether a shared cache would hand a cookie to others. Section 7.3 leaves that to the origin, but a cookie is most
    /// often meant for one user. One that `private` or `no-cache` names isn't stored.
    private static func setsCookie(_ headers: HTTPFields) -> Bool {
        headers.contains(.setCookie) && StorableFields.of(headers, isShared: true).contains(.setCookie)
    }

    /// The last item of section 3.
    private static func isCacheable(_ exchange: HTTPExchange, _ control: CacheControl, isShared: Bool) -> Bool {
        exchange.status.isHeuristicallyCacheable || !control.isTargeted && exchange.headers.contains(.expires)
            || control.contains("public") || control.contains("max-age")
            || !isShared && control.contains("private") || isShared && control.contains("s-maxage")
    }

    /// RFC 9110 section 9.3.3: such a response to a POST is what a GET would return, for as long as its own lifetime
    /// says.
    private static func isPostAboutItsTarget(_ exchange: HTTPExchange, _ control: CacheControl, isShared: Bool) -> Bool
    {
        guard exchange.method == .post, exchange.status == 200,
            control.contains("max-age") || !control.isTargeted && exchange.headers.contains(.expires)
                || isShared && control.contains("s-maxage"),
            let field = exchange.headers[fields: .contentLocation].first,
            let location = TransferRedirect.url(field, relativeTo: exchange.url)
        else { return false }
        return location.targetText == exchange.url.targetText
    }

    /// Section 3.5.
    private static func allowsShared(_ control: CacheControl) -> Bool {
        control.contains("must-revalidate") || control.contains("public") || control.contains("s-maxage")
    }

    /// The final statuses whose caching this program knows (RFC 9110 section 15).
    private static let understood: Set<Int> = [
        200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414,
        415,
        417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
    ]
}

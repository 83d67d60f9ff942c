import Digests
import Essentials
public import HTTPTypes
import Pipeline
import PipelineHTTP

/// A response before the request's conditions and its range are applied.
public struct Reply: Sendable {
    /// The status; by default 200.
    public var status: HTTPResponse.Status = .ok
    /// The fields of the head.
    public var fields: HTTPFields
    let body: [UInt8]
    /// Has the bytes as they are sent, for a reply that is kept.
    private var form: ResponseBody.Form?
    /// The entity tag, which makes the reply one that conditions and ranges apply to.
    private var tag: String?

    /// The fields of every reply.
    static let shared: HTTPFields = [.xContentTypeOptions: "nosniff"]

    /// The fields of pictures and their descriptions where pages and scripts of any origin may read and time them.
    static let crossOrigin: HTTPFields = [
        .accessControlAllowOrigin: "*",
        .accessControlExposeHeaders: "ETag, Link, Server-Timing, Content-Length, Retry-After",
        .timingAllowOrigin: "*",
    ]

    /// Makes a reply of bytes of some media type.
    public init(_ body: [UInt8], type: String) {
        self.init(body, Self.shared)
        fields[.contentType] = type
    }

    /// Makes a reply of a text that no cache keeps.
    public init(ofThisMoment text: String, type: String) {
        self.init(Array(text.utf8), type: type)
        fields[.cacheControl] = "no-store"
    }

    init(_ body: [UInt8], _ fields: HTTPFields) { (self.body, self.fields) = (body, fields) }

    /// Makes a problem document. Errors aren't kept by caches: the next request may succeed.
    /// - Parameters:
    ///   - problem: What went wrong.
    ///   - id: The request's number, by which its line in the log is found.
    public init(_ problem: Problem, id: String? = nil) {
        self.init(Array(problem.json(id: id).utf8), type: "application/problem+json")
        status = problem.status
        fields[.cacheControl] = "no-store"
        if let wait = problem.retryAfter { fields[.retryAfter] = "\(wait.secondsRoundedUp)" }
    }

    /// Names the body by its digest: equal bytes have equal tags, and other bytes never do (RFC 9110 section 8.8.3). From
    /// then on conditions and ranges apply.
    public mutating func addTag() {
        let tag = "\"" + Array(SHA256.digest(body).prefix(16)).base64URL + "\""
        self.tag = tag
        fields[.eTag] = tag
        fields[.acceptRanges] = "bytes"
        fields[.contentLength] = "\(body.count)"
    }

    /// Makes the reply one that is kept: its bytes are copied once for all responses.
    mutating func keep() { form = ResponseBody.Form() }

    /// Whether the client has the source's present state, by its date (RFC 9110 section 13.1.3). A picture has the date of its source
    /// as its `Last-Modified`, which other bytes may have too after a change of the server's settings: the tag, which names the
    /// bytes, comes first.
    private func isUnmodified(since request: HTTPRequest) -> Bool {
        func date(_ fields: HTTPFields, _ name: HTTPField.Name) -> Date? {
            let values = fields[values: name]
            return values.count == 1 ? HTTPDate.parse(values[0], now: Date()) : nil
        }
        guard [.get, .head].contains(request.method), status == .ok,
            let since = date(request.headerFields, .ifModifiedSince), let modified = date(fields, .lastModified)
        else { return false }
        return modified <= since
    }

    /// Returns the response to a request: 304 if the client has these bytes, 206 for a part of them, nothing but the head
    /// for HEAD.
    public func response(to request: HTTPRequest) -> ServerResponse {
        var (fields, status, part, form) = (fields, status, body[...], form)
        if let tag {
            let conditions = request.headerFields
            // Section 13.2.2: it comes before all others, and compares strongly.
            if conditions.contains(.ifMatch), !Preconditions.name(tag, .ifMatch, in: conditions) {
                return Reply(Problem(.preconditionFailed, "The picture has another tag.")).response(to: request)
            }
            let isKnown =
                conditions.contains(.ifNoneMatch)
                ? Preconditions.name(tag, .ifNoneMatch, in: conditions) : isUnmodified(since: request)
            if isKnown {
                // Section 15.4.5: what describes the body is left out. The length stays: a server would write 0, which
                // only the length of the 200 may be (section 8.6).
                for name: HTTPField.Name in [.contentType, .contentDisposition, .acceptRanges] { fields[name] = nil }
                return ServerResponse(.notModified, fields)
            }
            // Section 14.2: a range is for GET alone.
            if request.method == .get, conditions.contains(.range) {
                switch ByteRange(conditions, of: fields, count: body.count) {
                case .whole, .unknown: break
                case .unsatisfiable:
                    fields[.contentRange] = "bytes */\(body.count)"
                    fields[.contentType] = nil
                    fields[.contentLength] = "0"
                    return ServerResponse(.rangeNotSatisfiable, fields)
                case .part(let bytes):
                    fields[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(body.count)"
                    (status, part, form) = (.partialContent, body[bytes], nil)
                    fields[.contentLength] = "\(part.count)"
                }
            }
        } else {
            fields[.contentLength] = "\(body.count)"
        }
        guard request.method != .head else { return ServerResponse(status, fields) }
        return ServerResponse(status, fields, ResponseBody(bytes: part, form: form))
    }
}

/// A response as it is sent.
public struct ServerResponse: Sendable {
    /// The status and the fields.
    public var head: HTTPResponse
    /// The bytes after the head; none for HEAD, 304 and 416.
    public let body: ResponseBody

    init(_ status: HTTPResponse.Status, _ fields: HTTPFields, _ body: ResponseBody = ResponseBody(bytes: [], form: nil))
    {
        head = HTTPResponse(status: status, headerFields: fields)
        self.body = body
    }
}

/// The bytes of a response.
public struct ResponseBody: Sendable {
    /// The bytes.
    public let bytes: ArraySlice<UInt8>
    fileprivate let form: Form?

    /// The bytes in the form of a web framework.
    final class Form: Sendable {
        fileprivate let made = Lock<(any Sendable)?>(nil)
    }

    /// The bytes in the form that a web framework sends. It is made once for a response that is kept, so that hits in
    /// memory copy no bytes.
    public func form<Value: Sendable>(_ make: (ArraySlice<UInt8>) -> Value) -> Value {
        guard let form else { return make(bytes) }
        if let made = form.made.withLock({ $0 }) as? Value { return made }
        let value = make(bytes)
        form.made.withLock { $0 = value }
        return value
    }
}

extension HTTPField.Name {
    fileprivate static let timingAllowOrigin = name("Timing-Allow-Origin")
}

extension Duration {
    /// In whole seconds, at least one.
    fileprivate var secondsRoundedUp: Int { max(1, Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0)) }
}

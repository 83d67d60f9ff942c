import Crypto
import HTTPTypes
import Hummingbird

/// A response before the request's conditions and its range are applied.
struct Reply: Sendable {
    var status: HTTPResponse.Status = .ok
    var fields: HTTPFields
    var body: [UInt8] = []
    /// The same bytes as they are sent, for a reply that is kept.
    private var buffer: ByteBuffer?
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

    /// A text of some media type.
    init(_ text: String, type: String, status: HTTPResponse.Status = .ok) {
        self.init(Array(text.utf8), type: type)
        self.status = status
    }

    /// A text that no cache keeps.
    init(ofThisMoment text: String, type: String) {
        self.init(text, type: type)
        fields[.cacheControl] = "no-store"
    }

    init(_ body: [UInt8], type: String) {
        self.init(body)
        fields[.contentType] = type
    }

    init(_ body: [UInt8], _ fields: HTTPFields = shared) {
        self.body = body
        self.fields = fields
    }

    /// A problem document. Errors aren't kept by caches: the next request may succeed.
    /// - Parameter id: The request's.
    init(_ problem: Problem, id: String? = nil) {
        self.init(problem.json(id: id), type: "application/problem+json", status: problem.status)
        fields[.cacheControl] = "no-store"
        if let wait = problem.retryAfter { fields[.retryAfter] = "\(wait.secondsRoundedUp)" }
    }

    /// Names the body by its digest: equal bytes have equal tags, and other bytes never do (RFC 9110 section 8.8.3).
    mutating func addTag() {
        let digest = SHA256.hash(data: body).prefix(16)
        tag = "\"" + Array(digest).base64URL + "\""
        fields[.eTag] = tag
        fields[.acceptRanges] = "bytes"
        fields[.contentLength] = "\(body.count)"
    }

    /// Makes the reply one that is kept: its bytes are copied once for all responses.
    mutating func keep() { buffer = ByteBuffer(bytes: body) }

    /// Returns the response to a request: 304 if the client has these bytes, 206 for a part of them, nothing but the head
    /// for HEAD.
    func response(to request: Request) -> Response {
        var (fields, status, part) = (fields, status, body[...])
        if let tag {
            // Section 13.2.2: it comes before all others, and compares strongly.
            if let known = request.headers[.ifMatch], !EntityTags(known).contains(strongly: tag) {
                return Reply(Problem(.preconditionFailed, "The picture has another tag.")).response(to: request)
            }
            if let known = request.headers[.ifNoneMatch], EntityTags(known).contains(tag) {
                // Section 15.4.5: what describes the body is left out.
                fields[.contentType] = nil
                fields[.contentDisposition] = nil
                fields[.acceptRanges] = nil
                // The length stays: Hummingbird would write 0, which only the length of the 200 may be (section 8.6).
                return Response(status: .notModified, headers: fields)
            }
            // Section 14.2: a range is for GET alone. If the tag in If-Range is another, the whole body is sent.
            let isCurrent = request.headers[.ifRange].map { $0 == tag } ?? true
            if request.method == .get, isCurrent, let range = request.headers[.range].flatMap(RequestedRange.init) {
                guard let bytes = range.bytes(of: body.count) else {
                    fields[.contentRange] = "bytes */\(body.count)"
                    fields[.contentType] = nil
                    fields[.contentLength] = "0"
                    return Response(status: .rangeNotSatisfiable, headers: fields)
                }
                fields[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(body.count)"
                (status, part) = (.partialContent, body[bytes])
                fields[.contentLength] = "\(part.count)"
            }
        } else {
            fields[.contentLength] = "\(body.count)"
        }
        guard request.method != .head else { return Response(status: status, headers: fields) }
        let sent = status == .partialContent ? nil : buffer
        return Response(status: status, headers: fields, body: .init(byteBuffer: sent ?? ByteBuffer(bytes: part)))
    }
}

/// The tags of `If-None-Match` (RFC 9110 section 13.1.2), compared weakly.
struct EntityTags: Sendable {
    private let tags: [Substring]
    private let isAny: Bool
    private let strong: [Substring]

    init(_ field: String) {
        isAny = field == "*"
        let all = field.split(separator: ",").map { $0.drop(while: \.isWhitespace).prefix { !$0.isWhitespace } }
        tags = all.map { $0.hasPrefix("W/") ? $0.dropFirst(2) : $0 }
        strong = all.filter { !$0.hasPrefix("W/") }
    }

    /// Whether a tag is among those that aren't weak, as `If-Match` compares them (section 13.1.1).
    func contains(strongly tag: String) -> Bool { isAny || strong.contains { $0 == tag } }

    func contains(_ tag: String) -> Bool { isAny || tags.contains { $0 == tag } }
}

/// One range of bytes (RFC 9110 section 14.1.2). Several at once are ignored, as section 14.2 allows.
struct RequestedRange: Sendable {
    private let first, last: Int?

    init?(_ field: String) {
        guard field.lowercased().hasPrefix("bytes=") else { return nil }
        let ends = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        func number(_ text: Substring) -> Int? {
            // A number that is too large is one behind the end.
            let isNumber = !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
            return isNumber ? Int(text) ?? .max : nil
        }
        guard ends.count == 2, ends.allSatisfy({ $0.isEmpty || number($0) != nil }) else { return nil }
        (first, last) = (number(ends[0]), number(ends[1]))
        guard first != nil || last != nil, first ?? 0 <= last ?? .max || first == nil else { return nil }
    }

    /// The bytes of a body; `nil` if there are none.
    func bytes(of count: Int) -> Range<Int>? {
        guard let first else { return last == 0 || count == 0 ? nil : max(0, count - (last ?? 0))..<count }
        return first < count ? first..<(min(last ?? .max, count - 1) + 1) : nil
    }
}

extension HTTPField.Name {
    fileprivate static let timingAllowOrigin = name("Timing-Allow-Origin")
}

extension Duration {
    /// In whole seconds, at least one.
    var secondsRoundedUp: Int { max(1, Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0)) }
}

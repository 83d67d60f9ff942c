public import Essentials
public import HTTPTypes

/// A response as a cache has stored it.
///
/// `HTTPCache` makes them, and a `ResponseStore` keeps them. Stages find them in a load's ``Load/response``.
public struct StoredResponse: Sendable, Codable {
    private enum CodingKeys: CodingKey {
        case generation, key, target, status, headers, requestTime, responseTime, stored, expires, freshUntil, body
        case selecting, redirects
    }

    /// The number of its row. A number is never reused, by no other store either, so a response that was replaced can be
    /// told from its successor.
    public var generation: Int64
    /// The key that it is stored under.
    public let key: SourceKey
    /// The URL that responded, without fragment and user info.
    public let target: String
    /// The status code (RFC 9110 section 15).
    public let status: Int
    /// The header fields, without those that belong to the connection (RFC 9111 section 3.1).
    public private(set) var headers: HTTPFields
    /// When the request for it was sent, or the one that last confirmed it.
    public private(set) var requestTime: Date
    /// When it arrived, or the 304 that last confirmed it.
    public let responseTime: Date
    /// When it was stored or last confirmed.
    public private(set) var stored: Date
    /// When it expires, if `Expiry.after` fixed that when it was stored. A reader may only shorten it.
    public let expires: Date?
    /// When it stops being fresh by the rules under which it was stored; `nil` for never.
    public package(set) var freshUntil: Date?
    /// The content; empty where a store only lists its responses.
    public var body: [UInt8]

    /// The request's fields that `Vary` names, with their values.
    package let selecting: SelectingFields
    /// The redirects that led to it, where they have no entries of their own.
    package var redirects: StoredRedirects?
    /// The tier in which it was found, or that has stored it.
    package var tier: TierIdentity?

    package init(
        generation: Int64, key: SourceKey, target: String, status: Int, headers: HTTPFields, requestTime: Date,
        responseTime: Date, stored: Date, expires: Date?, freshUntil: Date? = nil, body: [UInt8],
        selecting: SelectingFields, redirects: StoredRedirects? = nil
    ) {
        self.generation = generation
        self.key = key
        self.target = target
        self.status = status
        self.headers = headers
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.stored = stored
        self.expires = expires
        self.freshUntil = freshUntil
        self.body = body
        self.selecting = selecting
        self.redirects = redirects
    }

    /// The media type that the origin declared (RFC 9110 section 8.3).
    var contentType: String? { headers[.contentType] }

    /// The text between the quotes of the entity tag (RFC 9110 section 8.8.3), which is what
    /// ``HTTPExchange/init(url:bytes:mediaType:lifetime:validator:at:)`` was given as its validator; `nil` without one.
    public var validator: String? {
        headers[values: .eTag].first?.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first
            .map(String.init)
    }

    /// The URLs that it came from, and its tags: the one that responded, those of the redirects that belong to it, and
    /// `tag:` with each tag that the origin (`Surrogate-Key`, `Cache-Tag`) or a caller has given it. When one of them
    /// becomes invalid, so does the response.
    public var targets: [String] {
        [target] + (redirects?.targets ?? []) + ResponseTags.tags(in: headers).map(ResponseTags.target)
    }

    /// The response with a caller's tags among its fields.
    package func tagged(_ tags: Set<String>) -> StoredResponse {
        var tagged = self
        tagged.headers.tag(tags)
        return tagged
    }

    /// Notes that it was requested and stored by a time, whatever the clock of the machine says that did so.
    package mutating func wasRequested(by time: Date) {
        (requestTime, stored) = (min(requestTime, time), min(stored, time))
    }

    /// The response without its body: what a store passes to the functions that choose.
    public var head: StoredResponse {
        var head = self
        head.body = []
        return head
    }

    /// The body, as the load's original.
    package var encodedImage: EncodedImage { EncodedImage(bytes: body, declaredType: contentType) }

    /// Whether it was stored or confirmed after another.
    package func isNewer(than known: StoredResponse?) -> Bool {
        guard let known else { return true }
        return generation != known.generation || stored > known.stored
    }
}

/// Tells the responses of one tier from those of another.
package final class TierIdentity: Sendable {
    package init() {}
}

/// The request's fields by which the origin chose a response. The module `PipelineHTTP` says which they are and compares
/// them.
///
/// Values are normalised. Values of fields that hold credentials are digests.
package struct SelectingFields: Sendable, Hashable, Codable {
    package struct Field: Sendable, Hashable, Codable {
        /// In lower case.
        package let name: String
        /// `nil` where the request had no such field.
        package let value: [UInt8]?

        package init(name: String, value: [UInt8]?) {
            self.name = name
            self.value = value
        }
    }

    /// In the order of their names.
    package let fields: [Field]

    /// The fields of a response without `Vary`: it matches every request.
    package static let none = SelectingFields(fields: [])

    package init(fields: [Field]) { self.fields = fields }
}

/// The redirects that belong to a stored response: those that led to it from a source with an identifier.
package struct StoredRedirects: Sendable, Hashable, Codable {
    /// Until when all of them are fresh by the server's word. The caller's `.after` and `.never` override it.
    package let until: Date
    /// The URLs that redirected, without fragment and user info. When one becomes invalid, so does the response.
    package let targets: [String]

    package init(until: Date, targets: [String]) {
        self.until = until
        self.targets = targets
    }
}

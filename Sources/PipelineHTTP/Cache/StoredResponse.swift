public import FoundationEssentials
public import HTTPTypes
public import Pipeline

/// An answer as the cache has it.
public struct StoredResponse: Sendable {
    /// The number of its row; it is never given again, so an answer that was replaced can be told from its successor.
    public internal(set) var generation: Int64
    /// What it is stored under.
    public let key: SourceKey
    /// The URL that answered, without fragment and user info.
    public let target: String
    /// The status code (RFC 9110 section 15).
    public let status: Int
    /// The fields, without those that belong to the connection (RFC 9111 section 3.1).
    public let headers: HTTPFields
    /// When the request was sent that it answered or that last confirmed it.
    public let requestTime: Date
    /// When it, or the last answer that confirmed it, arrived.
    public let responseTime: Date
    /// When it was stored or last confirmed.
    public let stored: Date
    /// When it expires, where `Expiry.after` fixed that as it was stored; a reader may only shorten it.
    public let expires: Date?
    /// The content.
    public let body: [UInt8]

    /// The fields of the request that `Vary` names, with their values.
    let selecting: SelectingFields
    /// The redirects that it was found behind, where they have no entries of their own.
    package var redirects: StoredRedirects?

    /// The media type that the origin declared (RFC 9110 section 8.3).
    public var contentType: String? { headers[.contentType] }
}

extension StoredResponse {
    /// The body, as the load's original.
    package var encodedImage: EncodedImage { EncodedImage(bytes: body, declaredType: contentType) }

    /// Whether it was stored or confirmed after another.
    package func isNewer(than known: StoredResponse?) -> Bool {
        guard let known else { return true }
        return generation != known.generation || stored > known.stored
    }
}

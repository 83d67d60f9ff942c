package import Essentials
package import HTTPTypes

/// What the response behind a product says about itself, kept with the product. A class, since a memory hit has no time
/// to copy it all.
package final class ResponseFacts: Sendable {
    /// The URLs that the response came from, without fragment and user info. Of a file, `file:` and its path.
    package let targets: [String]
    /// The source's entity tag, or else its `Last-Modified`; `nil` without both.
    let validator: String?
    /// The source's media type, as it was declared.
    let mediaType: String?
    /// The source's `Last-Modified`.
    let lastModified: String?
    /// The source's `Cache-Control`, all its lines.
    let cacheControl: String?
    /// When the origin was asked for the source, or last confirmed it; `nil` without an origin.
    let askedAt: Date?

    package init(targets: [String] = [], _ headers: HTTPFields = [:], askedAt: Date? = nil) {
        self.targets = targets
        self.askedAt = askedAt
        validator = headers[.eTag] ?? headers[.lastModified]
        mediaType = headers[.contentType]
        lastModified = headers[.lastModified]
        cacheControl = headers[.cacheControl]
    }

    /// The same facts with more targets.
    package init(_ facts: ResponseFacts, adding targets: [String]) {
        self.targets = facts.targets + targets.filter { !facts.targets.contains($0) }
        (validator, mediaType, askedAt) = (facts.validator, facts.mediaType, facts.askedAt)
        (lastModified, cacheControl) = (facts.lastModified, facts.cacheControl)
    }
}

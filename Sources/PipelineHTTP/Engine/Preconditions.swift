import Essentials
package import HTTPTypes
import Pipeline

/// The conditions of a caller's own request, as a cache may evaluate them (RFC 9111 section 4.3.2).
package enum Preconditions {
    /// Whether a request has conditions of its own that a cache may evaluate.
    static func areGiven(in request: HTTPFields) -> Bool {
        request.contains(.ifNoneMatch) || request.contains(.ifModifiedSince)
    }

    /// Whether a request has conditions that only the origin may evaluate: they guard its state, not a stored response.
    static func areForOrigin(in request: HTTPFields) -> Bool {
        request.contains(.ifMatch) || request.contains(.ifUnmodifiedSince)
    }

    /// Returns a request's fields without conditions, for a caller that has no use for a 304 or a 412.
    package static func removed(from request: HTTPFields) -> HTTPFields {
        guard areGiven(in: request) || areForOrigin(in: request) else { return request }
        return request.filtered { ![.ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince].contains($0.name) }
    }

    /// Whether the caller already has the stored response, so that a 304 is enough. `If-None-Match` takes precedence
    /// over `If-Modified-Since` (RFC 9110 section 13.2.2).
    static func holdBack(_ stored: StoredResponse, for request: HTTPFields, now: Date) -> Bool {
        // RFC 9110 section 13.2.1: conditions are about a representation.
        guard stored.isSuccess else { return false }
        if request.contains(.ifNoneMatch) {
            let tag = stored.headers.latin1(.eTag).first
            return tag.map { name($0, .ifNoneMatch, in: request) } ?? (tags(in: request) == ["*"])
        }
        guard let since = request[values: .ifModifiedSince].first.flatMap({ HTTPDate.parse($0, now: now) }) else {
            return false
        }
        let modified =
            stored.headers.date(.lastModified, now: now) ?? stored.headers.date(.date, now: now) ?? stored.responseTime
        return modified <= since
    }

    /// Whether `If-None-Match` or `If-Match` names a tag. The former compares weakly, the latter strongly (RFC 9110 sections
    /// 13.1.1 and 13.1.2).
    package static func name(_ own: String, _ field: HTTPField.Name, in request: HTTPFields) -> Bool {
        let tags = tags(in: request, field)
        if tags == ["*"] { return true }
        guard field == .ifMatch else { return tags.contains { tag($0) == tag(own) } }
        let strong = EntityTag(own)
        return tags.contains { EntityTag($0).flatMap { strong?.stronglyMatches($0) } ?? false }
    }

    /// The request's fields with the validators of a stored response added, so that a 304 can confirm it.
    ///
    /// The caller's own conditions stay: `If-None-Match` becomes the union of the tags, and a date of the caller's is
    /// not replaced.
    package static func adding(_ stored: HTTPFields, to request: HTTPFields) -> HTTPFields {
        // A range asks about content other than the stored one.
        guard !request.contains(.range) else { return request }
        var request = request
        let hasConditions = areGiven(in: request)
        for condition in Validators.conditions(for: stored) {
            if condition.name == .ifNoneMatch, request.contains(.ifNoneMatch) {
                let tags = tags(in: request)
                guard tags != ["*"], !tags.contains(where: { tag($0) == tag(condition.latin1) }) else { continue }
                request.append(condition)
            } else if !hasConditions || condition.name == .ifNoneMatch {
                request.append(condition)
            }
        }
        return request
    }

    /// Whether a 304 confirms a stored response, and not only the caller's.
    static func confirm(_ stored: HTTPFields, by notModified: HTTPFields, request: HTTPFields) -> Bool {
        guard Validators.confirms(notModified, stored) else { return false }
        guard areGiven(in: request) else { return true }
        // With the caller's conditions sent too, a 304 without validators doesn't tell which response it confirms.
        if notModified.contains(.eTag) || notModified.contains(.lastModified) { return true }
        if request.contains(.ifNoneMatch) {
            return stored.latin1(.eTag).first.map { own in tags(in: request).allSatisfy { tag($0) == tag(own) } }
                ?? false
        }
        return stored.contains(.eTag) || stored[.lastModified] == request[.ifModifiedSince]
    }

    /// The members of `If-None-Match` or `If-Match`; commas in quotes don't separate them.
    private static func tags(in request: HTTPFields, _ field: HTTPField.Name = .ifNoneMatch) -> [String] {
        var tags: [String] = [""]
        var isQuoted = false
        for character in request.latin1(field).joined(separator: ",") {
            if character == "\"" { isQuoted.toggle() }
            if character == ",", !isQuoted {
                tags.append("")
            } else if isQuoted || character != " " && character != "\t" {
                tags[tags.count - 1].append(character)
            }
        }
        return tags.filter { !$0.isEmpty }
    }

    /// The part of a tag that is compared, weak or not (RFC 9110 section 13.1.2). Text that is not a tag is compared as
    /// it is.
    private static func tag(_ text: String) -> String { EntityTag(text)?.opaque ?? text }
}

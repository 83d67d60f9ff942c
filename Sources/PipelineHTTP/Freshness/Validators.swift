package import Essentials
package import HTTPTypes
import Pipeline

/// The validators by which a stored response is confirmed (RFC 9110 section 8.8).
package enum Validators {
    /// The fields that make a request conditional, to confirm a stored response (RFC 9111 section 4.3.1); none if the
    /// origin gave no validator that can be sent. They are sent along with the request's own fields.
    package static func conditions(for stored: HTTPFields) -> HTTPFields {
        var conditions = HTTPFields()
        // The validators' bytes unchanged, even if they break the grammar: the origin knows them.
        for (validator, condition) in [
            (HTTPField.Name.eTag, HTTPField.Name.ifNoneMatch), (.lastModified, .ifModifiedSince),
        ] {
            guard let field = stored[fields: validator].first else { continue }
            field.withUnsafeBytesOfValue { value in
                // A value with a control character would make every such request fail.
                if !value.isEmpty, value.allSatisfy(TransferRequest.mayBeSent) {
                    conditions.append(HTTPField(name: condition, lenientValue: value))
                }
            }
        }
        return conditions
    }

    /// Whether a 304 is about a stored response (RFC 9111 section 4.3.4): its strong tag is the same, or without one
    /// its weak tag or date, or it has no validator.
    package static func confirms(_ notModified: HTTPFields, _ stored: HTTPFields) -> Bool {
        if let text = notModified.latin1(.eTag).first {
            guard let tag = EntityTag(text), let own = stored.latin1(.eTag).first.flatMap({ EntityTag($0) }) else {
                return text == stored.latin1(.eTag).first
            }
            return tag.isWeak ? tag.weaklyMatches(own) : tag.stronglyMatches(own)
        }
        guard let date = notModified[values: .lastModified].first, let own = stored[values: .lastModified].first else {
            return true
        }
        return date == own
    }

    /// The validator by which a partial body may be completed (RFC 9110 section 13.1.5): a strong tag, or a date that
    /// is at least a second older than the response (section 8.8.2.2); `nil` without one.
    package static func strong(in headers: HTTPFields, now: Date) -> String? {
        if let text = headers[values: .eTag].first, let tag = EntityTag(text) { return tag.isWeak ? nil : text }
        guard let text = headers[values: .lastModified].first, let modified = HTTPDate.parse(text, now: now),
            let date = headers.date(.date, now: now), date.timeIntervalSince(modified) >= 1
        else { return nil }
        return text
    }
}

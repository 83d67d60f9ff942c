package import HTTPTypes

/// What a 304 says about a stored response (RFC 9111 section 4.3.4).
package enum NotModified: Sendable, Hashable {
    /// The stored response is still valid.
    case confirmsStored
    /// The caller's own condition holds: the 304 goes to the caller.
    case answersCaller
    /// It is about a response other than the stored one, or none is stored: only a request without conditions helps.
    case concernsAnother

    /// Reads a 304.
    /// - Parameters:
    ///   - headers: the fields of the 304.
    ///   - stored: the fields of the response whose validators were sent; `nil` without one.
    ///   - request: the caller's fields, without the validators of the stored response.
    package init(_ headers: HTTPFields, stored: HTTPFields?, request: HTTPFields) {
        if let stored, Preconditions.confirm(stored, by: headers, request: request) {
            self = .confirmsStored
        } else {
            self = Preconditions.areGiven(in: request) ? .answersCaller : .concernsAnother
        }
    }
}

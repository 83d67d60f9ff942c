import Essentials
package import HTTPTypes
package import Pipeline

/// The part of a response that arrived before the connection broke. `Fetch` leaves it for its next attempt under a
/// `Retry`, which requests only the rest (RFC 9110 sections 13.1.5 and 14.2).
///
/// It is not a public attachment: only the stage that requested the body can request the rest.
package struct PartialBody: LoadAttachment {
    /// The response, with the bytes so far.
    package let exchange: HTTPExchange
    /// The number of bytes of the whole body.
    let total: Int
    private let validator: String

    /// Keeps a response that can be completed; `nil` without a strong validator or a known length, since the rest could
    /// then be of another version.
    package init?(_ exchange: HTTPExchange) {
        let headers = exchange.headers
        // A body that the client decompressed has no Content-Length: ranges count compressed bytes.
        guard exchange.status == 200, !exchange.body.isEmpty, headers[.transferEncoding] == nil,
            let total = headers[values: .contentLength].first.flatMap({ deltaSeconds($0.utf8) }),
            exchange.body.count < total, headers[.acceptRanges]?.lowercased() != "none",
            exchange.requestHeaders[.range] == nil, exchange.requestHeaders[.ifRange] == nil,
            let validator = Validators.strong(in: headers, now: exchange.responseTime)
        else { return nil }
        self.exchange = exchange
        self.total = total
        self.validator = validator
    }

    /// The fields that ask for the rest, or for all of it if the origin has another version now.
    package var conditions: HTTPFields { [.range: "bytes=\(exchange.body.count)-", .ifRange: validator] }

    /// Whether the next response is about something else, or doesn't say what it is about, so that only a request for
    /// the whole helps.
    package func isUseless(after response: HTTPExchange) -> Bool {
        // A tag is only valid for one URL (RFC 9110 section 8.8.3), and a client may have followed a redirect.
        response.status == 416
            || response.status == 206 && (response.url != exchange.url || !hasValidator(response.headers))
    }

    /// Whether a part is certain to be of the same version: only parts with the same strong validator may be combined
    /// (RFC 9110 section 15.3.7.3), and an origin may ignore `If-Range`.
    private func hasValidator(_ part: HTTPFields) -> Bool {
        if exchange.headers.contains(.eTag) { return part[values: .eTag].first == validator }
        return !part.contains(.eTag) && part[values: .lastModified].first == validator
    }

    /// Returns the response with its fields updated by the response that brings the rest, whose bytes are yet to arrive
    /// (RFC 9110 section 15.3.7.3).
    /// - Throws: `LoadError` with the code `malformedResponse` if it is not the requested rest.
    package func continued(by response: HTTPExchange) throws -> HTTPExchange {
        let text = response.headers[values: .contentRange].first
        let range = text.flatMap { ContentRange($0) }
        guard let range, range.first == exchange.body.count, range.last == total - 1, (range.total ?? total) == total
        else {
            throw malformed(
                "sent \(text.map { "the range \"\($0)\"" } ?? "no range"), though the bytes from "
                    + "\(exchange.body.count) to the end of \(total) were asked for")
        }
        var whole = exchange
        whole.headers = StorableFields.updating(exchange.headers, with: response.headers)
        whole.requestTime = response.requestTime
        whole.responseTime = response.responseTime
        return whole
    }

    /// Checks that the rest was as long as its range said.
    /// - Throws: `LoadError` with the code `malformedResponse`.
    package func checkLength(of whole: HTTPExchange) throws {
        guard whole.body.count == total else {
            throw malformed("sent \(whole.body.count - exchange.body.count) bytes under its range")
        }
    }

    private func malformed(_ what: String) -> LoadError {
        LoadError(
            .malformedResponse, subject: redactedURL(exchange.url.absoluteString),
            "Asked for the rest of a body that broke off, the origin \(what). Without "
                + "Retry nothing is resumed.")
    }
}

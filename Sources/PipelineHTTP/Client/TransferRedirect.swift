import Essentials
import HTTPTypes
import Pipeline

/// The request that follows a redirect. It keeps credentials only within the same origin (RFC 9110 section 15.4).
enum TransferRedirect {
    /// Returns the request that follows a response; `nil` if the response is not a redirect.
    /// - Throws: `LoadError` if it leads to anything but an http or https URL.
    static func next(
        of request: TransferRequest, from target: CurlURL, status: Int, _ headers: HTTPFields,
        credentials: CredentialFields = .standard
    ) throws -> TransferRequest? {
        guard status.isRedirect, let location = headers[fields: .location].first else {
            return nil
        }
        guard let url = url(location, relativeTo: request.url) else {
            throw LoadError(
                .malformedResponse, subject: redactedURL(request.url.absoluteString),
                "\(target) sent a redirect to something that isn't a URL, such as one with a % that begins no escape.")
        }
        let destination = try CurlURL(url)
        var next = request
        next.url = url
        let becomesGet =
            status == 303 && request.method != .head || (status == 301 || status == 302) && request.method == .post
        if becomesGet && request.method != .get {
            next.method = .get
            next.body = nil
            for name in [HTTPField.Name.contentType, .contentLength, .contentEncoding, .contentLanguage] {
                next.headers[name] = nil
            }
        }
        if destination != target {
            // Credentials for one origin must not reach another (RFC 9110 section 15.4).
            next.headers = next.headers.filtered {
                !credentials.contains($0.name) && !CredentialFields.standard.contains($0.name)
            }
            next.crossesOrigins = true
        }
        return next
    }

    /// The URL in a field such as `Location`, of any bytes; `nil` if it is not a URL.
    static func url(_ field: HTTPField, relativeTo base: URL) -> URL? {
        field.withUnsafeBytesOfValue { URL(escaping: $0, relativeTo: base) }
    }
}

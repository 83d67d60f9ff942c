import Essentials
package import HTTPTypes
package import Pipeline

/// The requests of a chain of redirects (RFC 9110 section 15.4). Each hop is sent, judged and stored separately.
package struct RedirectHops: Sendable {
    /// How many redirects are followed.
    static let limit = 5

    /// The request of the current hop. The client doesn't follow redirects itself.
    package private(set) var request: TransferRequest
    private let credentials: CredentialFields
    private var count = 0

    package init(_ request: TransferRequest, credentials: CredentialFields) {
        self.request = request
        self.request.maximumRedirects = 0
        self.credentials = credentials
    }

    /// Moves to the hop that a response leads to.
    /// - Returns: false if the response is not a redirect.
    /// - Throws: `LoadError` if the redirect leads to a URL that can't be fetched, or is one too many.
    package mutating func follow(status: Int, _ headers: HTTPFields) throws -> Bool {
        guard status.isRedirect, headers.contains(.location) else { return false }
        let origin = try CurlURL(request.url)
        guard
            let next = try TransferRedirect.next(
                of: request, from: origin, status: status, headers, credentials: credentials)
        else { return false }
        guard count < Self.limit else {
            throw LoadError(
                .refused, subject: redactedURL(request.url.absoluteString),
                "\(origin) redirects once more, to \(redactedURL(next.url.absoluteString)), after \(Self.limit) redirects. "
                    + "If they aren't a loop, ask for that URL itself.", httpStatus: status)
        }
        count += 1
        request = next
        return true
    }

    /// Whether a stored response to the current hop may be used: it is the first, or its URL may be asked.
    func mayRead(by rule: URLRule?) -> Bool { count == 0 || rule?(request.url) ?? true }

    /// The key of responses to the current hop.
    package func key() -> SourceKey? {
        SourceKey(
            ImageRequest(.url(request.url), headers: request.headers, partition: request.partition),
            credentials: credentials)
    }
}

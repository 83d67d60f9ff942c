package import Essentials
package import HTTPTypes

/// The URLs that a response to an unsafe request makes invalid (RFC 9111 section 4.4).
package enum Invalidation {
    /// The URLs whose stored responses must not be used any more: the target, and `Location` and `Content-Location` if
    /// they have the target's origin. None if the method is safe or the response is an error.
    package static func urls(
        method: HTTPRequest.Method, target: URL, status: Int, headers: HTTPFields
    ) -> [URL] {
        guard !safe.contains(method.rawValue), (200...399).contains(status) else { return [] }
        // As the client reads them: without case, and with the scheme's own port.
        let origin = try? CurlURL(target)
        let others = [HTTPField.Name.location, .contentLocation].compactMap { name -> URL? in
            guard let field = headers[fields: name].first, let url = TransferRedirect.url(field, relativeTo: target),
                let origin, let other = try? CurlURL(url), other == origin
            else { return nil }
            return url
        }
        return [target] + others
    }

    /// RFC 9110 section 9.2.1. Any other method counts as unsafe.
    private static let safe: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE"]
}

import CCurl
import Essentials
import Pipeline

/// The origin of a URL, as libcurl reads it. libcurl decides where to connect, so checks of allowed hosts and of
/// credentials have to use the same parser.
struct CurlURL: Sendable, Hashable {
    let scheme: String
    /// In lower case; IPv4 in four decimal numbers, IPv6 without brackets.
    let host: String
    let port: Int

    /// Reads a URL.
    /// - Throws: `LoadError` with the code `invalidURL` or `unsupportedScheme`.
    init(_ url: URL) throws {
        let text = url.absoluteString
        // Only made for errors, since each transfer reads a URL.
        var subject: String { redactedURL(text) }
        // A line break in a URL would end the request line and begin a field (RFC 3986 section 2 allows none).
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            throw LoadError(
                .invalidURL, subject: subject.filter { !$0.isNewline },
                "The URL has a blank or control character; percent-encode it.")
        }
        guard let handle = curl_url() else {
            throw LoadError(.invalidURL, subject: subject, "There is no memory to read the URL.")
        }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
            let scheme = Self.part(CURLUPART_SCHEME, of: handle)
        else {
            throw LoadError(.invalidURL, subject: subject, "This is not a URL that can be fetched; check its spelling.")
        }
        guard scheme == "http" || scheme == "https" else {
            throw LoadError(
                .unsupportedScheme, subject: subject, "Only http and https can be fetched, not \(scheme).")
        }
        // libcurl reads the `a` of `http:///a` as a host, against every standard.
        guard url.host()?.isEmpty == false, let host = Self.part(CURLUPART_HOST, of: handle), !host.isEmpty,
            let port = Self.part(CURLUPART_PORT, of: handle).flatMap({ Int($0) })
        else {
            throw LoadError(
                .invalidURL, subject: subject, "The URL has no host; write it like http://example.com/a.jpg.")
        }
        self.scheme = scheme
        self.host = host.lowercased().trimmingBrackets
        self.port = port
    }

    private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}

extension CurlURL: CustomStringConvertible {
    /// `example.com:443`, as errors name it.
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension String {
    fileprivate var trimmingBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}

package import Essentials
import Pipeline

/// Where an S3-compatible store listens, and how its URLs name buckets.
///
/// ```swift
/// let amazon = S3Endpoint(region: "eu-central-1")
/// let own = try S3Endpoint("https://minio.internal:9000")
/// ```
public struct S3Endpoint: Sendable, Hashable {
    /// Where a URL has the bucket.
    public enum Style: String, Sendable, Hashable, CaseIterable {
        /// As the first segment of the path: `https://store/bucket/key`.
        case path
        /// As the first label of the host: `https://bucket.store/key`.
        case host
    }

    /// The URL of the store, without a path.
    package let url: URL
    /// The region that signatures name.
    package let region: String
    /// Where URLs have the bucket.
    package let style: Style

    /// Describes Amazon's store in a region.
    /// - Parameters:
    ///   - region: The region.
    ///   - style: Where URLs have the bucket; in the host by default. A name with dots needs the path over TLS.
    public init(region: String = "us-east-1", style: Style = .host) {
        // A region that no URL can hold leads to no store.
        url = URL(string: "https://s3.\(region).amazonaws.com") ?? URL(filePath: "/")
        (self.region, self.style) = (region, style)
    }

    /// Describes a store by its http or https URL.
    /// - Parameters:
    ///   - url: The URL, such as `https://minio.internal:9000`.
    ///   - region: The region; `us-east-1` by default, which stores that have no regions accept.
    ///   - style: Where URLs have the bucket; in the path by default, since other names need a wildcard in DNS.
    /// - Throws: `LoadError` with `invalidURL` if the URL has a path, a query or credentials, or isn't an http URL.
    public init(_ url: String, region: String = "us-east-1", style: Style = .path) throws {
        guard let parts = URLComponents(string: url), ["http", "https"].contains(parts.scheme?.lowercased()),
            let host = parts.encodedHost, !host.isEmpty, ["", "/"].contains(parts.percentEncodedPath),
            parts.percentEncodedQuery == nil, parts.user == nil, let parsed = parts.url
        else {
            throw LoadError(
                .invalidURL, subject: redactedURL(url),
                "This is not the URL of an S3-compatible store. Write https://host:port, without a path.")
        }
        (self.url, self.region, self.style) = (parsed, region, style)
    }

    /// Describes the store that the variables name: `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`, and `AWS_REGION` or
    /// `AWS_DEFAULT_REGION`. Without a URL it is Amazon's.
    /// - Parameter environment: The variables; those of the process by default.
    /// - Throws: `LoadError` with `invalidURL`.
    public init(environment: [String: String]? = nil) throws {
        try self.init(url: nil, region: nil, style: nil, environment: environment)
    }

    /// Describes a store, with the variables for what isn't given.
    init(url: String?, region: String?, style: Style?, environment: [String: String]?) throws {
        let environment = environment ?? ProcessInfo.processInfo.environment
        let region = region ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? "us-east-1"
        if let url = url ?? environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"] {
            try self.init(url, region: region, style: style ?? .path)
        } else {
            self.init(region: region, style: style ?? .host)
        }
    }

    /// The URL of an object.
    /// - Parameters:
    ///   - bucket: The bucket's name.
    ///   - key: The object's key, percent-encoded as in a URL's path.
    ///   - query: A query, percent-encoded.
    /// - Returns: `nil` if no URL can have these.
    func url(bucket: String, key: String, query: String? = nil) -> URL? {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let host = parts.encodedHost,
            !bucket.isEmpty, bucket.utf8.allSatisfy(Self.isAllowed)
        else { return nil }
        switch style {
        case .path: parts.percentEncodedPath = "/\(bucket)/\(key)"
        case .host:
            parts.encodedHost = "\(bucket).\(host)"
            parts.percentEncodedPath = "/\(key)"
        }
        parts.percentEncodedQuery = query
        return parts.url
    }

    /// What a bucket's name is made of.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

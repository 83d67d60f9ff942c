import Essentials
import Pipeline

/// A bucket of an S3-compatible store, and what the keys in it begin with.
///
/// ```swift
/// let bucket = try S3Bucket("s3://images/fleet?endpoint=https://minio.internal:9000")
/// ```
public struct S3Bucket: Sendable, Hashable {
    /// The bucket's name.
    package let name: String
    /// What keys begin with, percent-encoded and without slashes at its ends; may be empty.
    package let prefix: String
    /// The store.
    package let endpoint: S3Endpoint

    /// Reads `s3://bucket/prefix`, with `endpoint`, `region` and `style` (`path` or `host`) as a query. Without an
    /// endpoint or a region, those of the environment count: see ``S3Endpoint/init(environment:)``.
    /// - Throws: `LoadError` with `invalidURL`.
    public init(_ url: String, environment: [String: String]? = nil) throws {
        func invalid(_ why: String) -> LoadError { LoadError(.invalidURL, subject: redactedURL(url), why) }
        guard let parts = URLComponents(string: url), parts.scheme?.lowercased() == "s3", let host = parts.encodedHost,
            !host.isEmpty, parts.user == nil, parts.port == nil
        else { throw invalid("This is not the URL of a bucket. Write s3://bucket/prefix.") }
        var values: [String: String] = [:]
        for item in parts.queryItems ?? [] {
            guard ["endpoint", "region", "style"].contains(item.name), let value = item.value, !value.isEmpty else {
                throw invalid("The URL takes endpoint, region and style, and nothing else.")
            }
            values[item.name] = value
        }
        let style = values["style"].map { S3Endpoint.Style(rawValue: $0) }
        if case .some(nil) = style { throw invalid("The style is path or host.") }
        endpoint = try S3Endpoint(
            url: values["endpoint"], region: values["region"], style: style ?? nil, environment: environment)
        name = host
        prefix = parts.percentEncodedPath.split(separator: "/").joined(separator: "/")
        guard self.url(of: "") != nil else { throw invalid("A bucket's name has letters, digits, dots and hyphens.") }
    }

    /// The URL of an object, whose key follows the prefix.
    func url(of key: String) -> URL? {
        endpoint.url(bucket: name, key: prefix.isEmpty ? key : "\(prefix)/\(key)")
    }

    /// The URL at which the store lists objects, with a query.
    func listURL(_ query: String) -> URL? { endpoint.url(bucket: name, key: "", query: query) }
}

extension S3Bucket: CustomStringConvertible {
    /// `s3://bucket/prefix`, without the store.
    public var description: String { "s3://\(name)" + (prefix.isEmpty ? "" : "/\(prefix)") }
}

import Digests
import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP

/// Signs requests to an S3-compatible store, or another of Amazon's services, with Signature Version 4: a pure function
/// of the request, the credentials and the time.
///
/// S3 encodes each segment of a path once, and removes no dots from it, unlike the protocol's other services.
struct SignatureV4: Sendable {
    let credentials: S3Credentials
    /// The region of the store, such as `eu-central-1`.
    let region: String
    /// The service that signatures name.
    var service = "s3"

    /// Returns a request with its path and query encoded as the store encodes them, and with the fields of its signature.
    /// - Parameters:
    ///   - time: When it is sent. Stores accept a quarter of an hour more or less than their own clock.
    ///   - payload: The SHA-256 of the body in hexadecimal digits, if it is known.
    func sign(_ request: TransferRequest, at time: Date, payload: String? = nil) -> TransferRequest {
        var signed = request
        guard var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true) else { return request }
        let path = Self.path(parts.percentEncodedPath)
        let query = Self.query(parts.percentEncodedQuery)
        (parts.percentEncodedPath, parts.percentEncodedQuery) = (path, query.isEmpty ? nil : query)
        signed.url = parts.url ?? request.url
        let stamp = time.formatted(Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
        let payload = payload ?? SHA256.hexadecimal(SHA256.digest(request.body ?? []))
        for (name, value) in [
            ("x-amz-content-sha256", payload), ("x-amz-date", stamp),
            ("x-amz-security-token", credentials.sessionToken),
        ] {
            guard let name = HTTPField.Name(name) else { continue }
            signed.headers[name] = value
        }
        let fields = Self.fields(signed.headers, host: Self.host(parts))
        let names = fields.map(\.name).joined(separator: ";")
        let canonical =
            ["\(request.method.rawValue)", path, query] + fields.map { "\($0.name):\($0.value)" } + [
                "", names, payload,
            ]
        let scope = "\(stamp.prefix(8))/\(region)/\(service)/aws4_request"
        let digest = SHA256.hexadecimal(SHA256.digest(canonical.joined(separator: "\n").utf8))
        let text = "AWS4-HMAC-SHA256\n\(stamp)\n\(scope)\n\(digest)"
        let key = [String(stamp.prefix(8)), region, service, "aws4_request"]
            .reduce(Array("AWS4\(credentials.secretKey)".utf8)) { AuthenticationCode.sha256($1.utf8, key: $0) }
        signed.headers[.authorization] =
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope), SignedHeaders=\(names), "
            + "Signature=\(SHA256.hexadecimal(AuthenticationCode.sha256(text.utf8, key: key)))"
        return signed
    }

    /// The host with its port, unless that is the scheme's own.
    private static func host(_ parts: URLComponents) -> String {
        let host = (parts.encodedHost ?? "").lowercased()
        let standard = parts.scheme?.lowercased() == "https" ? 443 : 80
        return parts.port.map { $0 == standard ? host : "\(host):\($0)" } ?? host
    }

    /// The fields that are signed, sorted: all but those that a proxy or the client may change.
    private static func fields(_ headers: HTTPFields, host: String) -> [(name: String, value: String)] {
        let unsigned: Set<String> = ["authorization", "expect", "transfer-encoding", "user-agent", "x-amzn-trace-id"]
        var values: [String: [String]] = ["host": [host]]
        for field in headers where !unsigned.contains(field.name.canonicalName) {
            let words = field.value.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            values[field.name.canonicalName, default: []].append(words)
        }
        return values.map { ($0.key, $0.value.joined(separator: ",")) }.sorted { $0.0 < $1.0 }
    }

    private static func path(_ path: String) -> String {
        let encoded = path.split(separator: "/", omittingEmptySubsequences: false).map { encode(decode($0)) }
        return encoded.count > 1 ? encoded.joined(separator: "/") : "/"
    }

    /// The items sorted by their encoded names, then by their values. A plus sign is one, not a space.
    private static func query(_ query: String?) -> String {
        let items = (query ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (encode(decode(parts[0])), parts.count > 1 ? encode(decode(parts[1])) : "")
        }
        return items.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    /// Percent-encodes every byte that RFC 3986 section 2.3 doesn't call unreserved.
    static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let encoded = bytes.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                [byte]
            default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// A text without its percent-encoding.
    static func decoded(_ text: String) -> String { String(decoding: decode(text[...]), as: UTF8.self) }

    private static func decode(_ text: Substring) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}

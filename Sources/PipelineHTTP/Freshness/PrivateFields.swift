import HTTPTypes
import Pipeline

/// The fields of a request that may identify its user. In a cache with several users, only requests with the same
/// values share a `private` response.
///
/// All fields may, except a list of harmless ones: preferences among representations, which `Vary` handles; conditions
/// and ranges; directives for caches; and fields that differ with every request, such as trace identifiers. `baggage`,
/// `From` and `X-Forwarded-For` are not in that list: they may name the user.
enum PrivateFields {
    /// Returns a digest of the fields that count, in any order.
    /// - Parameter names: fields that are compared separately, in lower case.
    static func digest(of request: HTTPFields, except names: Set<String>) -> [UInt8] {
        var lines: [String: [[UInt8]]] = [:]
        for field in request {
            let name = field.name.canonicalName
            guard !harmless.contains(name), !names.contains(name) else { continue }
            lines[name, default: []].append(field.withUnsafeBytesOfValue { Array($0) })
        }
        var writer = ByteWriter()
        for (name, values) in lines.sorted(by: { $0.key < $1.key }) {
            writer.append(counted: name.utf8)
            writer.append(counted: FieldNormaliser.normalise(values, of: name))
        }
        return BLAKE2bDigest(of: writer.bytes).bytes
    }

    /// In lower case. Of the names that begin with `sec-`, only those that browsers set: a server may have its own.
    private static let harmless: Set<String> = [
        "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user", "sec-fetch-storage-access",
        "sec-purpose", "sec-gpc", "sec-speculation-tags",
        "sec-ch-ua", "sec-ch-ua-arch", "sec-ch-ua-bitness", "sec-ch-ua-form-factors", "sec-ch-ua-full-version",
        "sec-ch-ua-full-version-list", "sec-ch-ua-mobile", "sec-ch-ua-model", "sec-ch-ua-platform",
        "sec-ch-ua-platform-version", "sec-ch-ua-wow64", "sec-ch-dpr", "sec-ch-width", "sec-ch-viewport-width",
        "sec-ch-viewport-height", "sec-ch-device-memory", "sec-ch-save-data", "sec-ch-lang", "sec-ch-downlink",
        "sec-ch-ect", "sec-ch-rtt", "sec-ch-prefers-color-scheme", "sec-ch-prefers-reduced-motion",
        "sec-ch-prefers-reduced-data", "sec-ch-prefers-reduced-transparency", "sec-ch-prefers-contrast",
        "sec-ch-forced-colors",
        "accept", "accept-charset", "accept-encoding", "accept-language",
        "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "range",
        "cache-control", "pragma", "max-forwards", "priority", "prefer", "expect",
        "connection", "keep-alive", "te", "trailer", "upgrade", "upgrade-insecure-requests", "http2-settings",
        "content-length", "content-type", "date", "user-agent", "referer", "dnt",
        "save-data", "dpr", "width", "viewport-width", "device-memory", "downlink", "ect", "rtt",
        "traceparent", "tracestate", "b3", "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled",
        "x-b3-flags", "uber-trace-id", "x-amzn-trace-id", "x-cloud-trace-context", "x-datadog-trace-id",
        "x-datadog-parent-id", "x-datadog-sampling-priority", "sentry-trace", "request-id", "x-request-id",
        "x-correlation-id",
    ]
}

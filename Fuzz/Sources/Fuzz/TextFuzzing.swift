import FoundationEssentials
import HTTPTypes
@testable import Pipeline
import PipelineFile

@testable import PipelineHTTP
@testable import PipelineImages
@testable import Stages

/// Parses texts from origins and callers.
enum TextFuzzing {
    static func readDataURL(_ bytes: [UInt8]) {
        let text = "data:" + String(decoding: bytes, as: UTF8.self)
        guard let url = try? DataURL(text) else { return }
        precondition(url.image.bytes.count <= text.utf8.count, "more bytes than the text has")
    }

    /// Reads a list of transforms in YAML and makes its pipeline.
    static func readPipeline(_ bytes: [UInt8]) {
        guard let document = try? PipelineDocument(String(decoding: bytes, as: UTF8.self)) else { return }
        _ = try? document.pipeline(.operations)
    }

    /// Reads each line as the value of another field, in a request and in its response.
    static func readFields(_ bytes: [UInt8]) {
        let now = Date(timeIntervalSince1970: 1_772_366_400)
        let names: [HTTPField.Name] = [
            .cacheControl, .date, .expires, .age, .lastModified, .eTag, .vary, .contentRange, .retryAfter, .range,
        ]
        var (answer, request): (HTTPFields, HTTPFields) = ([:], [:])
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).prefix(40).enumerated() {
            let name = names[index % names.count]
            answer.append(HTTPField(name: name, lenientValue: line))
            request.append(HTTPField(name: name, lenientValue: line))
        }
        let text = String(decoding: bytes, as: UTF8.self)
        if let date = HTTPDate.parse(text, now: now) {
            precondition(HTTPDate.parse(HTTPDate.format(date), now: now) == date, "a date does not come back")
        }
        _ = ContentRange(text)
        _ = EntityTag(text)
        _ = RetryAfter.delay(in: answer, now: now)
        _ = ByteRange(request, of: answer, count: 1000)
        judge(request, answer, now)
    }

    private static func judge(_ request: HTTPFields, _ answer: HTTPFields, _ now: Date) {
        guard let url = URL(string: "http://example.com/") else { return }
        let exchange = HTTPExchange(
            url: url, requestHeaders: request, status: 200, headers: answer, requestTime: now, responseTime: now,
            body: [])
        guard case .storable = Storability(of: exchange) else { return }
        let kept = StorableFields.of(answer)
        guard let selecting = SelectingFields(vary: kept, request: request) else { return }
        precondition(selecting.match(request, of: .several), "a response does not fit its own request")
        _ = Validators.conditions(for: kept)
        let stored = StoredResponse(
            generation: 1, key: SourceKey(digest: BLAKE2bDigest(of: "a")), target: "http://example.com/", status: 200,
            headers: kept, requestTime: now, responseTime: now, stored: now, expires: nil, body: [],
            selecting: selecting)
        for later in [0, 60, 1e9] {
            for rules in [CacheRules.http, .asRequested] {
                _ = Freshness(
                    of: stored, for: request, now: now + later, expiry: .standard, rules: rules, isShared: later == 60)
            }
        }
    }
}

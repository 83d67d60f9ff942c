import Essentials
import HTTPTypes
import Pipeline
import Stages

/// One line of a coprocess's input: a request, or the cancellation of one.
struct StdioRequest: Decodable, Sendable {
    let id: Int
    var cancel: Bool?
    var url: String?
    var method: String?
    /// Pairs of a name and a value; a value's code points are its bytes.
    var headers: [[String]]?
    var cache: String?
    var redirect: String?
    var body64: String?

    /// The request that the line asks for.
    /// - Throws: `LoadError` that names the member that can't be used.
    func request() throws -> CachingRequest {
        guard let text = url, let url = URL(escaping: text.utf8) else {
            throw LoadError(.invalidURL, subject: redactedURL(url ?? ""), "\"url\" has to be an http or https URL.")
        }
        try ImageSource.check(url)
        var request = CachingRequest(url: url)
        request.method = try value(method, "method", Self.method) ?? .get
        request.mode = try value(cache, "cache") { CacheMode(rawValue: $0) } ?? .standard
        request.redirect = try value(redirect, "redirect") { CachingRequest.Redirect(rawValue: $0) } ?? .follow
        request.body = try value(body64, "body64") { Data(base64Encoded: $0) }.map { Array($0) }
        for pair in headers ?? [] {
            request.headers.append(try field(pair))
        }
        return request
    }

    /// The usual methods are recognized in upper and lower case, as in the Fetch standard. Others stay as they are
    /// written.
    private static func method(_ text: String) -> HTTPRequest.Method? {
        let usual = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]
        return HTTPRequest.Method(rawValue: usual.contains(text.uppercased()) ? text.uppercased() : text)
    }

    private func value<Value>(_ text: String?, _ member: String, _ read: (String) -> Value?) throws -> Value? {
        guard let text else { return nil }
        guard let value = read(text) else {
            throw LoadError(
                .invalidHeader, subject: "", "\"\(member)\" can't be \"\(printable(text.prefix(40)))\".")
        }
        return value
    }

    private func field(_ pair: [String]) throws -> HTTPField {
        guard pair.count == 2, let name = HTTPField.Name(pair[0]), let field = HTTPField(name: name, latin1: pair[1])
        else {
            throw LoadError(
                .invalidHeader, subject: "",
                "\"headers\" has a field that can't be sent: \(printable((pair.first ?? "").prefix(40))). Names are "
                    + "tokens; values have no line break, and no code point above 255.")
        }
        return field
    }
}

/// The id of a request whose other members can't be read.
struct StdioID: Decodable {
    let id: Int
}

/// The lines of a coprocess's output.
enum StdioResponse {
    /// The line with a response.
    static func line(id: Int, _ response: CachingResponse) -> [UInt8] {
        let interim = response.interim.map { interim in
            // In lower case, so that readers can look a name up. Names are case-insensitive (RFC 9110 section 5.1).
            Interim(status: interim.status, headers: interim.headers.pairs.map { [$0[0].lowercased(), $0[1]] })
        }
        return line([
            "id": id, "status": response.status, "statusText": response.reason, "headers": response.headers.pairs,
            "body64": Data(response.body).base64EncodedString(), "fromCache": response.use.rawValue, "interim": interim,
        ])
    }

    /// The line that says why there is no response; without an id if the request can't be read.
    static func failure(_ id: Int?, _ why: String) -> [UInt8] { line(["id": id, "error": why]) }

    /// The line that says that the session accepts requests.
    static func ready(_ name: String) -> [UInt8] { line(["ready": true, "name": name]) }

    private static func line(_ fields: Report.Fields) -> [UInt8] {
        JSONLine.bytes(of: Report(fields)) + [UInt8(ascii: "\n")]
    }

    /// An interim response (1xx): its status, and its fields as pairs.
    private struct Interim: Encodable {
        let status: Int
        let headers: [[String]]

        func encode(to encoder: any Encoder) throws {
            var pair = encoder.unkeyedContainer()
            try pair.encode(status)
            try pair.encode(headers)
        }
    }
}

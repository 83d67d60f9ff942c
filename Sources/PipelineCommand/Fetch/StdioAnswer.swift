import FoundationEssentials
import Stages

/// One line of a coprocess's output.
struct StdioAnswer: Encodable {
    /// An interim response (1xx): its status, and its fields as pairs.
    struct Interim: Encodable {
        let status: Int
        let headers: [[String]]

        func encode(to encoder: any Encoder) throws {
            var pair = encoder.unkeyedContainer()
            try pair.encode(status)
            try pair.encode(headers)
        }
    }

    private struct Failed: Encodable {
        @OrNull var id: Int?
        let error: String
    }

    private struct Ready: Encodable {
        let ready = true
        let name: String
    }

    let id: Int
    let status: Int
    let statusText: String
    let headers: [[String]]
    let body64: String
    let fromCache: String
    let interim: [Interim]

    init(id: Int, _ response: CachingResponse) {
        self.id = id
        status = response.status
        statusText = response.reason
        headers = response.headers.pairs
        body64 = Data(response.body).base64EncodedString()
        fromCache = response.use.rawValue
        interim = response.interim.map { interim in
            // In lower case, so that readers can look a name up. Names are case-insensitive (RFC 9110 section 5.1).
            Interim(status: interim.status, headers: interim.headers.pairs.map { [$0[0].lowercased(), $0[1]] })
        }
    }

    /// The response as a line.
    func line() -> [UInt8] { Self.line(self) }

    /// The line that says why there is no response; without an id if the request can't be read.
    static func failure(_ id: Int?, _ why: String) -> [UInt8] { line(Failed(id: id, error: why)) }

    /// The line that says that the session accepts requests.
    static func ready(_ name: String) -> [UInt8] { line(Ready(name: name)) }

    private static func line(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers can always be encoded.
        return ((try? encoder.encode(value)).map { Array($0) } ?? Array("{}".utf8)) + [UInt8(ascii: "\n")]
    }
}

import FoundationEssentials
import Stages

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

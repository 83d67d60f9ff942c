import FoundationEssentials
import HTTPTypes
import Pipeline

/// One row of stored responses, without its body.
struct ResponseRow: Sendable {
    var generation: Int64 = 0
    let key: SourceKey
    let target: String
    let status: Int
    let headers: HTTPFields
    let selecting: SelectingFields
    let requestTime: Date
    let responseTime: Date
    let stored: Date
    /// Where `Expiry.after` fixed it.
    let expires: Date?
    /// When it stops being fresh by the rules under which it was stored; `nil` for never.
    let freshUntil: Date?
    let bodyLength: Int
    var bodyChecksum: Int64
    /// The name of the body's file, where it has one.
    var bodyFile: String?
    /// The redirects that belong to the entry.
    var redirects: StoredRedirects?

    /// The bytes that the row counts for: its body, its texts, and about what the tables and indexes add.
    var size: Int {
        bodyLength + StoredFields.encode(headers).count + selecting.encoded.count + target.utf8.count + Self.overhead
    }

    /// The row as an answer, with its body.
    func response(_ body: [UInt8]) -> StoredResponse {
        StoredResponse(
            generation: generation, key: key, target: target, status: status, headers: headers,
            requestTime: requestTime, responseTime: responseTime, stored: stored, expires: expires, body: body,
            selecting: selecting, redirects: redirects)
    }

    private static let overhead = 256
}

extension ResponseRow {
    /// The columns that ``init(_:key:)`` reads, in its order.
    static let columns = columns(version: ResponseSchema.version)

    /// The columns in a database of an older version.
    static func columns(version: Int64) -> String {
        """
        generation, target, status, fields, selecting, request_time, response_time, stored, expires, fresh_until, \
        body_length, body_checksum, body_file, \(version < 3 ? "NULL" : "redirects")
        """
    }

    /// Reads a row; `nil` if it makes no sense.
    init?(_ row: SQLiteRow, key: SourceKey) {
        guard let target = row.text(1), let headers = StoredFields.decode(row.bytes(3)),
            let selecting = SelectingFields(encoded: row.bytes(4)), row.integer(10) >= 0,
            row.isNull(13) || StoredRedirects(encoded: row.bytes(13)) != nil,
            (100...999).contains(row.integer(2))
        else { return nil }
        self.init(
            generation: row.integer(0), key: key, target: target, status: Int(row.integer(2)), headers: headers,
            selecting: selecting, requestTime: Date(microseconds: row.integer(5)),
            responseTime: Date(microseconds: row.integer(6)), stored: Date(microseconds: row.integer(7)),
            expires: row.optionalInteger(8).map(Date.init(microseconds:)),
            freshUntil: row.optionalInteger(9).map(Date.init(microseconds:)), bodyLength: Int(row.integer(10)),
            bodyChecksum: row.integer(11), bodyFile: row.text(12),
            redirects: row.isNull(13) ? nil : StoredRedirects(encoded: row.bytes(13)))
    }
}

import Essentials
import HTTPTypes
import Pipeline

/// One row of stored responses.
struct ResponseRow: Sendable {
    /// The response without its body.
    let head: StoredResponse
    let bodyLength: Int
    var bodyChecksum: Int64
    /// The name of the body's file, where it has one.
    var bodyFile: String?

    /// The bytes that the row counts for: its body, its texts, and an estimate for tables and indexes.
    var size: Int {
        bodyLength + StoredFields.encode(head.headers).count + head.selecting.encoded.count + head.target.utf8.count
            + Self.overhead
    }

    /// The response with its body.
    func response(_ body: [UInt8]) -> StoredResponse {
        var response = head
        response.body = body
        return response
    }

    private static let overhead = 256
}

extension ResponseRow {
    /// The row of a response, without the checksum and the file of its body.
    init(_ response: StoredResponse) {
        var head = response
        head.body = []
        self.init(head: head, bodyLength: response.body.count, bodyChecksum: 0)
    }

    /// The columns that ``init(_:key:)`` reads, in its order.
    static let columns = columns(version: ResponseSchema.version)

    /// The columns in a database of an older version.
    static func columns(version: Int64) -> String {
        """
        generation, target, status, fields, selecting, request_time, response_time, stored, expires, fresh_until, \
        body_length, body_checksum, body_file, \(version < 3 ? "NULL" : "redirects")
        """
    }

    /// Reads a row; `nil` if it is malformed.
    init?(_ row: SQLiteRow, key: SourceKey) {
        guard let target = row.text(1), let headers = StoredFields.decode(row.bytes(3)),
            let selecting = SelectingFields(encoded: row.bytes(4)), CacheEntry.lengths.contains(row.integer(10)),
            row.isNull(13) || StoredRedirects(encoded: row.bytes(13)) != nil,
            (100...999).contains(row.integer(2))
        else { return nil }
        self.init(
            head: StoredResponse(
                generation: row.integer(0), key: key, target: target, status: Int(row.integer(2)), headers: headers,
                requestTime: Date(microseconds: row.integer(5)), responseTime: Date(microseconds: row.integer(6)),
                stored: Date(microseconds: row.integer(7)),
                expires: row.optionalInteger(8).map(Date.init(microseconds:)),
                freshUntil: row.optionalInteger(9).map(Date.init(microseconds:)), body: [], selecting: selecting,
                redirects: row.isNull(13) ? nil : StoredRedirects(encoded: row.bytes(13))),
            bodyLength: Int(row.integer(10)), bodyChecksum: row.integer(11), bodyFile: row.text(12))
    }
}

extension CacheEntry {
    /// The columns that ``init(_:)`` reads, in its order.
    static let columns = "generation, source, target, status, body_length, stored, accessed, fresh_until"

    /// The lengths of bodies that a row may say: up to 1 TB, so that their sums don't overflow.
    static let lengths: ClosedRange<Int64> = 0...1 << 40

    /// Reads the summary of a row; `nil` if it is malformed.
    init?(_ row: SQLiteRow) {
        guard let digest = BLAKE2bDigest(bytes: row.bytes(1)) else { return nil }
        self.init(
            generation: row.integer(0), key: SourceKey(digest: digest), target: row.text(2) ?? "",
            status: Int(row.integer(3)), bodyLength: Int(min(max(row.integer(4), 0), Self.lengths.upperBound)),
            stored: Date(microseconds: row.integer(5)), accessed: Date(microseconds: row.integer(6)),
            freshUntil: row.optionalInteger(7).map(Date.init(microseconds:)))
    }
}

import CHiredis

/// A reply of a Redis server (RESP2).
enum RedisValue: Sendable, Hashable {
    case bytes([UInt8])
    case integer(Int64)
    case null
    case array([RedisValue])
    /// The server's text, such as `OOM command not allowed when used memory > 'maxmemory'`.
    case error(String)

    /// Copies a reply of hiredis. Arrays that nest deeper than those of any script are null.
    init(_ reply: UnsafePointer<redisReply>, depth: Int = 0) {
        let bytes = { Array(UnsafeRawBufferPointer(start: reply.pointee.str, count: reply.pointee.len)) }
        switch reply.pointee.type {
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: self = .bytes(bytes())
        case REDIS_REPLY_INTEGER: self = .integer(reply.pointee.integer)
        case REDIS_REPLY_ERROR: self = .error(String(decoding: bytes(), as: UTF8.self))
        case REDIS_REPLY_ARRAY where depth < Self.mostDepth:
            self = .array(
                (0..<reply.pointee.elements).map { index in
                    reply.pointee.element[index].map { RedisValue($0, depth: depth + 1) } ?? .null
                })
        default: self = .null
        }
    }

    /// The bytes of a string; `nil` for any other value.
    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

    /// The text of a string; `nil` for any other value.
    var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    /// The number of an integer, or of a string of digits; `nil` for any other value, and for a number outside ±2^53.
    ///
    /// Scripts calculate in doubles, so no number that the fleet has written is larger. Sums and differences of these
    /// numbers therefore never overflow, whoever has written them.
    var integer: Int64? {
        if case .integer(let number) = self { Self.bounded(number) } else { text.flatMap { Self.integer(in: $0) } }
    }

    /// The number that a text's digits are, within the same bounds.
    static func integer(in text: some StringProtocol) -> Int64? { Int64(text).flatMap { bounded($0) } }

    private static func bounded(_ number: Int64) -> Int64? { number.magnitude <= 1 << 53 ? number : nil }

    private static let mostDepth = 8

    /// The elements of an array; `nil` for any other value.
    var array: [RedisValue]? { if case .array(let elements) = self { elements } else { nil } }
}

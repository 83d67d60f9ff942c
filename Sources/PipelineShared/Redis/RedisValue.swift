import CHiredis

/// A reply of a Redis server (RESP2).
enum RedisValue: Sendable, Hashable {
    case bytes([UInt8])
    case integer(Int64)
    case null
    case array([RedisValue])
    /// The server's text, such as `OOM command not allowed when used memory > 'maxmemory'`.
    case error(String)

    /// Copies a reply of hiredis. A reply nests as deep as a script makes it, and the scripts are ours.
    init(_ reply: UnsafePointer<redisReply>) {
        let bytes = { Array(UnsafeRawBufferPointer(start: reply.pointee.str, count: reply.pointee.len)) }
        switch reply.pointee.type {
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: self = .bytes(bytes())
        case REDIS_REPLY_INTEGER: self = .integer(reply.pointee.integer)
        case REDIS_REPLY_ERROR: self = .error(String(decoding: bytes(), as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            self = .array(
                (0..<reply.pointee.elements).map { reply.pointee.element[$0].map { RedisValue($0) } ?? .null })
        default: self = .null
        }
    }

    /// The bytes of a string; `nil` for any other value.
    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

    /// The text of a string; `nil` for any other value.
    var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    /// The number of an integer, or of a string of digits; `nil` for any other value.
    var integer: Int64? { if case .integer(let number) = self { number } else { text.flatMap { Int64($0) } } }

    /// The elements of an array; `nil` for any other value.
    var array: [RedisValue]? { if case .array(let elements) = self { elements } else { nil } }
}

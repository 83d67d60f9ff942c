import CHiredis
import Pipeline

/// Reads replies from the bytes that a server has sent, with hiredis' reader.
struct RedisReplies {
    private let reader: UnsafeMutablePointer<redisReader>

    /// - Parameter reader: Belongs to the caller.
    init(_ reader: UnsafeMutablePointer<redisReader>) {
        self.reader = reader
        if boundedFunctions != nil { reader.pointee.fn = boundedFunctions }
    }

    /// Adds bytes. They may end anywhere.
    func add(_ bytes: UnsafeRawBufferPointer) { redisReaderFeed(reader, bytes.baseAddress, bytes.count) }

    /// The next reply that is whole; `nil` if there is none.
    /// - Throws: ``RedisFailure`` if the bytes are not replies.
    func next() throws(RedisFailure) -> RedisValue? {
        var reply: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &reply) == REDIS_OK else {
            let text = withUnsafeBytes(of: &reader.pointee.errstr) { text in
                String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
            }
            throw .unreachable(text.isEmpty ? "its reply is malformed" : printable(text))
        }
        guard let reply else { return nil }
        defer { freeReplyObject(reply) }
        return RedisValue(UnsafePointer(reply.assumingMemoryBound(to: redisReply.self)))
    }
}

extension RedisReplies {
    /// The replies in some bytes, up to those that are not replies.
    static func all(in bytes: [UInt8]) -> [RedisValue] {
        guard let reader = redisReaderCreate() else { return [] }
        defer { redisReaderFree(reader) }
        let replies = RedisReplies(reader)
        bytes.withUnsafeBytes { replies.add($0) }
        var values: [RedisValue] = []
        while let value = try? replies.next() { values.append(value) }
        return values
    }
}

/// hiredis' own functions, except that an array of more than a million elements fails. hiredis takes memory for all of them
/// when a server announces them, and walks over it at the end.
///
/// Safe: they are made once, and never changed.
private nonisolated(unsafe) let boundedFunctions: UnsafeMutablePointer<redisReplyObjectFunctions>? = {
    guard let standard = standardFunctions else { return nil }
    let functions = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
    functions.initialize(to: standard.pointee)
    functions.pointee.createArray = { task, count in
        count <= 1_000_000 ? standardFunctions?.pointee.createArray(task, count) : nil
    }
    return functions
}()

/// Safe: a constant of the library.
private nonisolated(unsafe) let standardFunctions: UnsafeMutablePointer<redisReplyObjectFunctions>? = {
    let reader = redisReaderCreate()
    defer { redisReaderFree(reader) }
    return reader?.pointee.fn
}()

import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Reads a response's body, and checks its length.
///
/// Unchecked, since the iterator may not be shared: a ``Transfer`` runs one step at a time, each after the one before.
final class ResponseReader: @unchecked Sendable {
    private var chunks: HTTPClientResponse.Body.AsyncIterator
    private var received = 0
    private let declared: Int?
    private let limit: Int
    private let failure: TransferFailure

    /// - Throws: `LoadError` if the declared length is above `limit`.
    init(
        _ response: HTTPClientResponse, of method: HTTPRequest.Method, limit: Int, _ failure: TransferFailure
    ) throws {
        let hasBody = method != .head && response.status != .noContent && response.status != .notModified
        let hasLength = hasBody && !response.headers.contains(name: "Transfer-Encoding")
        declared = hasLength ? response.headers.first(name: "Content-Length").flatMap { Int($0) } : nil
        if let declared, declared > limit { throw failure.tooManyBytes(limit: limit, declared: declared) }
        self.limit = limit
        self.failure = failure
        chunks = response.body.makeAsyncIterator()
    }

    /// Returns the next chunk; `nil` at the end.
    func next() async throws -> [UInt8]? {
        while let buffer = try await chunks.next() {
            received += buffer.readableBytes
            guard received <= limit else { throw failure.tooManyBytes(limit: limit, declared: nil) }
            if buffer.readableBytes > 0 { return Array(buffer: buffer) }
        }
        guard received == declared ?? received else { throw failure.decompressed() }
        return nil
    }
}

extension HTTPFields {
    /// The fields in their order; those whose name is not a token are left out.
    init(_ headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, lenientValue: Array(value.utf8))) }
        }
    }
}

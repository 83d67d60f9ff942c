/// The reader's end of a transfer, which is cancelled with the last reference to this.
final class CurlBody: Sendable {
    /// Reading a redirect's body that is longer costs more than a new connection.
    private static let worthReading = 64 << 10

    private let transfer: CurlTransfer
    // Keeps the client alive while the body is read.
    private let client: CurlClient

    init(_ transfer: CurlTransfer, client: CurlClient) {
        self.transfer = transfer
        self.client = client
    }

    deinit { transfer.cancel() }

    func next() async throws -> [UInt8]? { try await transfer.next() }

    /// Reads the rest only to keep the connection.
    func drain() async throws {
        var read = 0
        while read < Self.worthReading, let chunk = try await next() { read += chunk.count }
        if read >= Self.worthReading { transfer.cancel() }
    }
}

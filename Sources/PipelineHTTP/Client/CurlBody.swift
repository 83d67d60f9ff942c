/// The reader's end of a transfer: when nobody holds it any more, the transfer is given up.
final class CurlBody: Sendable {
    /// A longer body of a redirect costs more to read than a new connection.
    private static let worthReading = 64 << 10

    private let transfer: CurlTransfer
    // A body can be read after its client was let go.
    private let client: CurlClient

    init(_ transfer: CurlTransfer, client: CurlClient) {
        self.transfer = transfer
        self.client = client
    }

    deinit { transfer.cancel() }

    func next() async throws -> [UInt8]? { try await transfer.next() }

    /// Reads the rest to no purpose but to keep the connection.
    func drain() async throws {
        var read = 0
        while read < Self.worthReading, let chunk = try await next() { read += chunk.count }
        if read >= Self.worthReading { transfer.cancel() }
    }
}

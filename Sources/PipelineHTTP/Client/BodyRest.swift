import Pipeline

/// Bytes that are handed out once.
final class BodyRest: Sendable {
    private let bytes: Lock<[UInt8]?>

    init(_ bytes: [UInt8]) { self.bytes = Lock(bytes.isEmpty ? nil : bytes) }

    func take() -> [UInt8]? {
        bytes.withLock { bytes in
            defer { bytes = nil }
            return bytes
        }
    }
}

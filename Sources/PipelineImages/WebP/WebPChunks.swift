#if WebP
/// Iterates over the chunks of a WebP file (RFC 9649 section 2.3), up to the size that it states. The last one may be cut
/// off.
struct WebPChunks: Sequence, IteratorProtocol {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The end of the file by its own size.
    private let end: Int
    private var position = 12

    /// - Parameter bytes: The file, which has to outlive the iteration.
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        end = bytes.count < 12 ? 0 : Swift.min(bytes.count, 8 + Self.number(bytes, at: 4))
    }

    /// Returns the name of the next chunk and the range of its data.
    mutating func next() -> (name: String, body: Range<Int>)? {
        guard position + 8 <= end else { return nil }
        let (start, length) = (position + 8, Self.number(bytes, at: position + 4))
        let name = String(decoding: bytes[position..<position + 4], as: UTF8.self)
        position = start + length + length % 2
        return (name, start..<Swift.min(start + length, end))
    }

    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) -> Int {
        (offset..<offset + 4).reversed().reduce(0) { $0 << 8 | Int(bytes[$1]) }
    }
}
#endif

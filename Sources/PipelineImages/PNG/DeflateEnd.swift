import CZlib

/// Where a deflate stream (RFC 1951) ends, so that another can follow it.
struct DeflateEnd {
    /// How many bytes ``open(_:)`` adds at most.
    static let longestOpening = 5

    /// The bit that says that the last block is the last (section 3.2.3).
    private let finalBit: Int
    /// The first bit behind the stream.
    private let end: Int

    /// Looks through a stream, block by block; `nil` if it is damaged or goes on.
    init?(of stream: UnsafeBufferPointer<UInt8>) {
        var state = z_stream()
        var (block, end) = (0, Int?.none)
        // What the stream holds is not wanted.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1 << 15) { held in
            withUnsafeMutablePointer(to: &state) { state in
                guard
                    inflateInit2_(state, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
                else { return }
                defer { inflateEnd(state) }
                state.pointee.next_in = UnsafeMutablePointer(mutating: stream.baseAddress)
                state.pointee.avail_in = UInt32(stream.count)
                while end == nil {
                    state.pointee.next_out = held.baseAddress
                    state.pointee.avail_out = UInt32(held.count)
                    guard inflate(state, Z_BLOCK) == Z_OK else { return }
                    let place = state.pointee.data_type
                    guard place & 128 != 0 else { continue }
                    let bit = 8 * (stream.count - Int(state.pointee.avail_in)) - Int(place & 7)
                    if place & 64 != 0 { end = bit } else { block = bit }
                }
            }
        }
        guard let end else { return nil }
        finalBit = block
        self.end = end
    }

    /// Makes the last block one of many and ends it at a byte's end, with an empty block that is stored (section 3.2.4).
    /// - Parameter stream: has place for ``longestOpening`` bytes more.
    /// - Returns: how many bytes the stream has then.
    func open(_ stream: UnsafeMutableBufferPointer<UInt8>) -> Int {
        stream[finalBit / 8] &= ~(1 << UInt8(finalBit % 8))
        // Its head of three bits is zero, and so is what fills the byte.
        let length = (end + 3 + 7) / 8
        if end % 8 != 0 { stream[end / 8] &= (1 << UInt8(end % 8)) - 1 }
        for index in (end + 7) / 8..<length { stream[index] = 0 }
        for (index, byte) in ([0, 0, 0xff, 0xff] as [UInt8]).enumerated() { stream[length + index] = byte }
        return length + 4
    }
}

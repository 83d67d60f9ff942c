import Pipeline
import CImages

/// Packs one strip of a TIFF with LZW (TIFF 6.0 section 13), and can stop between any two pieces of it.
final class TIFFLZW {
    private static let piece = 1 << 18

    private let state = UnsafeMutablePointer<ctiff_lzw>.allocate(capacity: 1)
    private let output = UnsafeMutablePointer<UInt8>.allocate(capacity: ctiff_lzw_bound(piece))

    init() { ctiff_lzw_begin(state) }

    deinit {
        state.deallocate()
        output.deallocate()
    }

    /// Packs the strip.
    /// - Parameter write: takes what it becomes, piece by piece.
    /// - Throws: `CancellationError`.
    func pack(
        _ strip: UnsafeBufferPointer<UInt8>, _ cancellation: WorkCancellation,
        to write: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws {
        guard let start = strip.baseAddress else { return }
        for place in stride(from: 0, to: strip.count, by: Self.piece) {
            try cancellation.check()
            let count = ctiff_lzw_pack(state, start + place, min(Self.piece, strip.count - place), output)
            write(UnsafeBufferPointer(start: output, count: count))
        }
        write(UnsafeBufferPointer(start: output, count: ctiff_lzw_end(state, output)))
    }
}

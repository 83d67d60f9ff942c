#if GIF
import CImages
import Pipeline

/// Decompresses a frame's pixels and draws them a few rows at a time, so that it can stop in between.
struct GIFPixels {
    let frame: GIFFrame
    let palette: [UInt8]
    /// Whether the readable part of a damaged or truncated frame is drawn.
    let allowTruncated: Bool

    func draw(
        _ bytes: UnsafeBufferPointer<UInt8>, on canvas: AnimationCanvas, _ cancellation: WorkCancellation
    ) throws {
        guard frame.width > 0, frame.height > 0, frame.start < bytes.count, let file = bytes.baseAddress else { return }
        let minimum = Int32(bytes[frame.start])
        // The end of the file in place of the pixels: an empty frame.
        guard minimum != 0x3b else { return }
        guard minimum < 12 else {
            if allowTruncated { return }
            throw GIFFile.damaged("its codes are too long")
        }
        let lzw = UnsafeMutablePointer<cgif_lzw>.allocate(capacity: 1)
        defer { lzw.deallocate() }
        cgif_start(lzw, minimum)
        let limit = max(frame.width, 1 << 16)
        let indices = UnsafeMutablePointer<UInt8>.allocate(capacity: limit + Int(CGIF_SLACK))
        defer { indices.deallocate() }
        let rows = frame.rows
        var (drawn, given) = (0, 0)
        /// Draws complete rows, and moves the rest to the start of the buffer.
        func flush() {
            var used = 0
            palette.withUnsafeBufferPointer { palette in
                guard let palette = palette.baseAddress else { return }
                while drawn < rows.count, given - used >= frame.width {
                    canvas.draw(indices + used, count: frame.width, row: rows[drawn], of: frame, palette: palette)
                    used += frame.width
                    drawn += 1
                }
                if drawn < rows.count, used == 0 || given - used > 0 {
                    // The row is drawn again once it is complete.
                    canvas.draw(indices + used, count: given - used, row: rows[drawn], of: frame, palette: palette)
                }
            }
            given -= used
            indices.update(from: indices + used, count: given)
        }
        // The block being read, and how many of its bytes are consumed.
        var (position, taken) = (frame.start + 1, 0)
        while drawn < rows.count {
            try cancellation.check()
            let state = fill(lzw, file, bytes.count, &position, &taken, indices, &given, limit)
            flush()
            switch state {
            case CGIF_IS_FULL: continue
            // Some files end a frame early; the missing pixels stay as they were.
            case CGIF_ENDS: return
            default:
                guard !allowTruncated, drawn < rows.count else { return }
                throw GIFFile.damaged(
                    state == CGIF_NEEDS_INPUT ? "it ends too soon" : "its pixels make no sense")
            }
        }
    }

    /// Decompresses block by block until there are enough indices. At the end of the file it returns
    /// `CGIF_NEEDS_INPUT`.
    private func fill(
        _ lzw: UnsafeMutablePointer<cgif_lzw>, _ file: UnsafePointer<UInt8>, _ count: Int, _ position: inout Int,
        _ taken: inout Int, _ indices: UnsafeMutablePointer<UInt8>, _ given: inout Int, _ limit: Int
    ) -> cgif_state {
        while position < count {
            let block = position
            let length = Int(file[block])
            guard length > 0 else { return CGIF_ENDS }
            let available = min(length, count - block - 1)
            let state = cgif_decompress(lzw, file + block + 1, available, &taken, indices, &given, limit)
            guard state == CGIF_NEEDS_INPUT else { return state }
            position = block + 1 + length
            taken = 0
        }
        return CGIF_NEEDS_INPUT
    }
}
#endif

import CGIF
import Glibc
import Pipeline

/// The picture that a GIF's frames are drawn on, one after the other.
final class GIFCanvas {
    let size: PixelSize
    let channels: Int
    let pixels: UnsafeMutablePointer<UInt8>
    /// What lay below the last frame, if that is to be taken back.
    private var covered: [UInt8] = []

    init(size: PixelSize, channels: Int) throws {
        guard let memory = calloc(size.width * size.height, channels) else { throw GIFFile.damaged("out of memory") }
        pixels = memory.assumingMemoryBound(to: UInt8.self)
        self.size = size
        self.channels = channels
    }

    deinit { free(pixels) }

    /// Draws one stored row of a frame, or its beginning; what is outside of the canvas is left out.
    func draw(
        _ indices: UnsafePointer<UInt8>, count: Int, row: Int, of frame: GIFFrame, palette: UnsafePointer<UInt8>
    ) {
        let y = frame.top + row
        let visible = min(count, size.width - frame.left)
        guard y < size.height, visible > 0 else { return }
        cgif_draw(
            indices, visible, palette, Int32(frame.transparent ?? -1),
            pixels + (y * size.width + frame.left) * channels, Int32(channels))
    }

    /// Keeps what a frame is going to cover.
    func keep(_ frame: GIFFrame, _ cancellation: WorkCancellation) throws {
        covered.removeAll(keepingCapacity: true)
        try forEachRow(of: frame, cancellation) { row, length in
            covered.append(contentsOf: UnsafeBufferPointer(start: row, count: length))
        }
    }

    /// Puts back what a frame covered.
    func takeBack(_ frame: GIFFrame, _ cancellation: WorkCancellation) throws {
        var position = 0
        try covered.withUnsafeBufferPointer { covered in
            try forEachRow(of: frame, cancellation) { row, length in
                guard let start = covered.baseAddress, position + length <= covered.count else { return }
                row.update(from: start + position, count: length)
                position += length
            }
        }
    }

    /// Fills a frame's place with one colour.
    func clear(_ frame: GIFFrame, with colour: [UInt8], _ cancellation: WorkCancellation) throws {
        try forEachRow(of: frame, cancellation) { row, length in
            for offset in 0..<length { row[offset] = colour[offset % channels] }
        }
    }

    private func forEachRow(
        of frame: GIFFrame, _ cancellation: WorkCancellation, _ body: (UnsafeMutablePointer<UInt8>, Int) -> Void
    ) throws {
        let visible = min(frame.width, size.width - frame.left)
        guard visible > 0 else { return }
        for y in frame.top..<max(frame.top, min(frame.top + frame.height, size.height)) {
            if y % 64 == 0 { try cancellation.check() }
            body(pixels + (y * size.width + frame.left) * channels, visible * channels)
        }
    }
}

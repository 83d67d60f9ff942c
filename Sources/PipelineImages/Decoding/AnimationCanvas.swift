import Glibc
import Pipeline

/// The picture that an animation's frames are drawn on, one after the other: clear, or black, at first.
final class AnimationCanvas {
    let size: PixelSize
    let channels: Int
    let pixels: UnsafeMutablePointer<UInt8>

    /// Where a frame lies on the canvas; what would be outside of it is left out.
    struct Place {
        let left, top, width, height: Int

        init(left: Int, top: Int, width: Int, height: Int, in size: PixelSize) {
            (self.left, self.top) = (min(left, size.width), min(top, size.height))
            self.width = min(width, size.width - self.left)
            self.height = min(height, size.height - self.top)
        }
    }

    /// `nil` if there is no memory for it.
    init?(size: PixelSize, channels: Int) {
        guard let memory = calloc(size.width * size.height, channels) else { return nil }
        pixels = memory.assumingMemoryBound(to: UInt8.self)
        self.size = size
        self.channels = channels
    }

    deinit { free(pixels) }

    /// Where a place's row begins.
    func row(_ y: Int, of place: Place) -> UnsafeMutablePointer<UInt8> {
        pixels + ((place.top + y) * size.width + place.left) * channels
    }

    /// Goes through a place's rows, from the top.
    /// - Throws: `CancellationError`.
    func forEachRow(
        of place: Place, _ cancellation: WorkCancellation,
        _ body: (_ y: Int, _ row: UnsafeMutableBufferPointer<UInt8>) -> Void
    ) throws {
        for y in 0..<place.height {
            if y % 64 == 0 { try cancellation.check() }
            body(y, UnsafeMutableBufferPointer(start: row(y, of: place), count: place.width * channels))
        }
    }

    /// Fills a place with one colour, of which a canvas without transparency takes the first three parts.
    func fill(_ place: Place, with colour: [UInt8], _ cancellation: WorkCancellation) throws {
        let row = [UInt8](repeatElement(colour.prefix(channels), count: place.width).joined())
        try row.withUnsafeBufferPointer { colours in
            guard let start = colours.baseAddress else { return }
            try forEachRow(of: place, cancellation) { _, row in row.baseAddress?.update(from: start, count: row.count) }
        }
    }

    /// What is in a place.
    func bytes(of place: Place, _ cancellation: WorkCancellation) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(place.width * place.height * channels)
        try forEachRow(of: place, cancellation) { _, row in bytes.append(contentsOf: row) }
        return bytes
    }

    /// Puts rows into a place.
    /// - Parameter width: of these rows, in pixels: no less than the place's.
    func put(_ bytes: [UInt8], width: Int, in place: Place, _ cancellation: WorkCancellation) throws {
        try bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            try forEachRow(of: place, cancellation) { y, row in
                row.baseAddress?.update(from: start + y * width * channels, count: row.count)
            }
        }
    }
}

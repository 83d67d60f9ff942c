import LibC
import Pipeline

/// The canvas on which an animation's frames are drawn in turn. It starts transparent, or black without alpha.
final class AnimationCanvas {
    let size: PixelSize
    let channels: Int
    let pixels: UnsafeMutablePointer<UInt8>

    /// A frame's rectangle on the canvas, clipped to it.
    struct Place {
        let left, top, width, height: Int

        init(left: Int, top: Int, width: Int, height: Int, in size: PixelSize) {
            (self.left, self.top) = (min(left, size.width), min(top, size.height))
            self.width = min(width, size.width - self.left)
            self.height = min(height, size.height - self.top)
        }
    }

    /// Returns `nil` if memory can't be allocated.
    init?(size: PixelSize, channels: Int) {
        guard let memory = calloc(size.width * size.height, channels) else { return nil }
        pixels = memory.assumingMemoryBound(to: UInt8.self)
        self.size = size
        self.channels = channels
    }

    deinit { free(pixels) }

    /// Returns the start of a row of a place.
    func row(_ y: Int, of place: Place) -> UnsafeMutablePointer<UInt8> {
        pixels + ((place.top + y) * size.width + place.left) * channels
    }

    /// Calls `body` with each row of a place, from the top.
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

    /// Fills a place with one RGBA colour. A canvas without transparency ignores alpha.
    func fill(_ place: Place, with color: [UInt8], _ cancellation: WorkCancellation) throws {
        let row = [UInt8](repeatElement(color.prefix(channels), count: place.width).joined())
        try row.withUnsafeBufferPointer { colors in
            guard let start = colors.baseAddress else { return }
            try forEachRow(of: place, cancellation) { _, row in row.baseAddress?.update(from: start, count: row.count) }
        }
    }

    /// Copies the pixels of a place.
    func bytes(of place: Place, _ cancellation: WorkCancellation) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(place.width * place.height * channels)
        try forEachRow(of: place, cancellation) { _, row in bytes.append(contentsOf: row) }
        return bytes
    }

    /// Writes rows of pixels into a place.
    /// - Parameter width: The width of these rows in pixels, at least that of the place.
    func put(_ bytes: [UInt8], width: Int, in place: Place, _ cancellation: WorkCancellation) throws {
        try bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            try forEachRow(of: place, cancellation) { y, row in
                row.baseAddress?.update(from: start + y * width * channels, count: row.count)
            }
        }
    }
}

import CImages
import Pipeline

/// Averages square blocks of pixels as rows come in. The sums are exact and only the means are rounded.
final class BlockMeans {
    /// The side of a block.
    let side: Int
    private let width: Int
    private let channels: Int
    private let hasAlpha: Bool
    private let sums: UnsafeMutableRawPointer
    private var rows = 0

    /// Prepares sums for rows of `width` pixels.
    /// - Parameter side: The side of a block, 2 to 255.
    init(side: Int, width: Int, layout: PixelLayout, hasAlpha: Bool) {
        self.side = side
        self.width = width
        self.channels = layout.channelCount
        self.hasAlpha = hasAlpha
        let bytes = width * (hasAlpha ? 16 : 2 * layout.channelCount)
        sums = .allocate(byteCount: bytes, alignment: 16)
        sums.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
    }

    deinit { sums.deallocate() }

    /// Adds a row. Returns true if that completes a row of blocks.
    func add(_ row: UnsafePointer<UInt8>) -> Bool {
        if hasAlpha {
            cresample_add_premultiplied(row, sums.assumingMemoryBound(to: UInt32.self), width)
        } else {
            cresample_add(row, sums.assumingMemoryBound(to: UInt16.self), width * channels)
        }
        rows += 1
        return rows == side
    }

    /// Whether the current row of blocks is incomplete.
    var isPartial: Bool { rows > 0 }

    /// Writes the means of the rows since the last call as samples, and starts over.
    func take(into samples: UnsafeMutablePointer<Int16>) {
        if hasAlpha {
            cresample_take_premultiplied_means(
                sums.assumingMemoryBound(to: UInt32.self), samples, width, Int32(side), Int32(rows))
        } else {
            cresample_take_means(
                sums.assumingMemoryBound(to: UInt16.self), samples, width, Int32(channels), Int32(side),
                Int32(rows))
        }
        rows = 0
    }
}

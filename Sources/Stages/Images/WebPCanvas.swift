import Glibc
import Pipeline

/// The picture that an animation's frames are put on, one after the other: RGBA, clear at first.
final class WebPCanvas {
    let size: PixelSize
    let pixels: UnsafeMutablePointer<UInt8>

    /// A frame's place, which lies within the canvas.
    struct Place {
        let left, top, width, height: Int

        init(left: Int, top: Int, width: Int, height: Int, in size: PixelSize) {
            (self.left, self.top) = (min(left, size.width), min(top, size.height))
            self.width = min(width, size.width - self.left)
            self.height = min(height, size.height - self.top)
        }
    }

    init(size: PixelSize) throws {
        guard let memory = calloc(size.width * size.height, 4) else { throw WebPFile.damaged("out of memory") }
        pixels = memory.assumingMemoryBound(to: UInt8.self)
        self.size = size
    }

    deinit { free(pixels) }

    /// Makes a place clear.
    func clear(_ place: Place, _ cancellation: WorkCancellation) throws {
        for y in 0..<place.height {
            if y % 64 == 0 { try cancellation.check() }
            memset(row(y, of: place), 0, place.width * 4)
        }
    }

    /// Puts a frame in its place, or lays it over what is there.
    /// - Parameter width: of the frame's rows, in pixels.
    func draw(
        _ frame: [UInt8], width: Int, at place: Place, blends: Bool, _ cancellation: WorkCancellation
    ) throws {
        try frame.withUnsafeBufferPointer { frame in
            guard let start = frame.baseAddress else { return }
            for y in 0..<place.height {
                if y % 64 == 0 { try cancellation.check() }
                let (source, target) = (start + y * width * 4, row(y, of: place))
                if blends {
                    Self.lay(source, over: target, count: place.width)
                } else {
                    memcpy(target, source, place.width * 4)
                }
            }
        }
    }

    private func row(_ y: Int, of place: Place) -> UnsafeMutablePointer<UInt8> {
        pixels + ((place.top + y) * size.width + place.left) * 4
    }

    /// Straight alpha on straight alpha, in whole numbers as libwebp does it.
    private static func lay(_ source: UnsafePointer<UInt8>, over target: UnsafeMutablePointer<UInt8>, count: Int) {
        for index in 0..<count {
            let (from, to) = (source + 4 * index, target + 4 * index)
            let alpha = UInt32(from[3])
            if alpha == 0 { continue }
            let below = (UInt32(to[3]) * (256 - alpha)) >> 8
            if alpha == 255 || below == 0 {
                for channel in 0..<4 { to[channel] = from[channel] }
                continue
            }
            let sum = alpha + below
            let scale = (1 << 24) / sum
            for channel in 0..<3 {
                let value = UInt32(from[channel]) * alpha + UInt32(to[channel]) * below
                to[channel] = UInt8(truncatingIfNeeded: (value &* scale) >> 24)
            }
            to[3] = UInt8(truncatingIfNeeded: sum)
        }
    }
}

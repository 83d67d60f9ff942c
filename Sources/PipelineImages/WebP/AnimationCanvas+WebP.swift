#if WebP
import Pipeline

extension AnimationCanvas {
    /// Blends RGBA rows over a place, straight alpha on straight alpha, with integers as libwebp does.
    /// - Parameter width: The width of these rows in pixels, at least that of the place.
    func lay(_ pixels: [UInt8], width: Int, over place: Place, _ cancellation: WorkCancellation) throws {
        try pixels.withUnsafeBufferPointer { pixels in
            guard let start = pixels.baseAddress else { return }
            try forEachRow(of: place, cancellation) { y, row in
                guard let target = row.baseAddress else { return }
                Self.lay(start + y * width * 4, over: target, count: place.width)
            }
        }
    }

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
#endif

#if PNG
import Pipeline

extension AnimationCanvas {
    /// The place of a frame, which lies on the canvas.
    func place(of frame: PNGFrame) -> Place {
        Place(left: frame.left, top: frame.top, width: frame.size.width, height: frame.size.height, in: size)
    }

    /// Blends RGBA rows of a place's width over it, straight alpha on straight alpha, rounded to the nearest level.
    func blend(_ pixels: [UInt8], over place: Place, _ cancellation: WorkCancellation) throws {
        try pixels.withUnsafeBufferPointer { pixels in
            guard let start = pixels.baseAddress else { return }
            try forEachRow(of: place, cancellation) { y, row in
                guard let target = row.baseAddress else { return }
                Self.blend(start + y * row.count, over: target, count: place.width)
            }
        }
    }

    private static func blend(_ source: UnsafePointer<UInt8>, over target: UnsafeMutablePointer<UInt8>, count: Int) {
        for index in 0..<count {
            let (from, to) = (source + 4 * index, target + 4 * index)
            let alpha = UInt32(from[3])
            if alpha == 0 { continue }
            // Both in parts of 255 × 255.
            let below = (255 - alpha) * UInt32(to[3])
            if below == 0 {
                to.update(from: from, count: 4)
                continue
            }
            let sum = 255 * alpha + below
            for channel in 0..<3 {
                let value = UInt32(from[channel]) * 255 * alpha + UInt32(to[channel]) * below
                to[channel] = UInt8((value + sum / 2) / sum)
            }
            to[3] = UInt8((sum + 127) / 255)
        }
    }
}
#endif

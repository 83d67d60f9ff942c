#if HEIC
import Pipeline

extension HEICStill {
    /// Returns the picture cropped, with 16 bits a channel, in its own colours, neither scaled nor turned.
    func samples(_ cancellation: WorkCancellation) throws -> ([UInt8], PixelLayout) {
        let (geometry, width) = (picture.geometry, picture.color.canvas.width)
        let layout = (picture.alpha == nil ? PixelLayout.rgb : .rgba).with(.uint16)
        let color = HEICRows(picture.color, bytes, picture.colors, isDeep: true)
        let alpha = picture.alpha.map { HEICRows($0, bytes, nil, isDeep: true) }
        var line = [UInt16](repeating: 0, count: 3 * width)
        var levels = alpha == nil ? [] : line
        let count = geometry.size.bytes(layout.bytesPerPixel)
        let samples = try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            guard var out = UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: UInt16.self) else {
                return
            }
            // Rows below the crop aren't decoded.
            for row in 0..<geometry.top + geometry.size.height {
                try cancellation.check()
                try color.read(row, into: &line, cancellation)
                try alpha?.read(row, into: &levels, cancellation)
                guard row >= geometry.top else { continue }
                for pixel in geometry.left..<geometry.left + geometry.size.width {
                    // Transparency is coded as brightness, so red is enough.
                    let level = alpha == nil ? UInt16.max : levels[3 * pixel]
                    for channel in 0..<3 {
                        out[channel] =
                            picture.isPremultiplied
                            ? line[3 * pixel + channel].divided(by: level)
                            : line[3 * pixel + channel]
                    }
                    if alpha != nil { out[3] = level }
                    out += layout.channelCount
                }
            }
            filled = count
        }
        return (samples, layout)
    }
}

extension UInt16 {
    /// Undoes the multiplication by alpha.
    fileprivate func divided(by alpha: UInt16) -> UInt16 {
        alpha == 0 ? self : UInt16(Swift.min(65535, (Int(self) * 65535 + Int(alpha) / 2) / Int(alpha)))
    }
}
#endif

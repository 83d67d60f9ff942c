import Pipeline

extension ImageHeader {
    /// Estimates the peak memory of decoding in bytes: the resulting picture, what the format needs besides
    /// (``memory``), and the rows and weights of scaling.
    package func decodingMemory(box: PixelSize?, frames wanted: Int) -> Int {
        let target = storedSize(for: box)
        let count = max(1, min(frames, wanted))
        // The bytes of a pixel with 16 bits a channel; 0 if there are 8.
        let deep = pixelType == .uint16 ? hasAlpha ? 8 : 6 : 0
        var frame = target.bytes(max(deep, hasAlpha || count > 1 ? 4 : 3))
        let stored = storedRegion.size
        if excessPixels > 1 { frame = min(stored.bytes(4), frame.saturatingTimes(excessPixels)) }
        // librsvg draws groups and filters apart, at the same size.
        let layers = isVector ? frame.saturatingTimes(3) : 0
        // Turning a picture holds it twice for a moment.
        let copies = orientation == .up ? 0 : frame
        let scaling = ResamplePlan(from: stored, to: target, reserve: DecodeQuality.quality.blockReserve)
        let rows = storedSize.width.saturatingTimes(Self.rowsAtATime * 4)
        return memory.saturatingPlus(copies).saturatingPlus(frame.saturatingTimes(count)).saturatingPlus(rows)
            .saturatingPlus(layers)
            .saturatingPlus(target == stored || isVector ? 0 : scaling.memory(channels: 4))
            .saturatingPlus(stored.bytes(1) <= wholeLimit ? stored.bytes(wholeBytes) : 0)
            // The whole picture's samples, those that are cut out or in another order, and rows in floating point.
            .saturatingPlus(storedSize.bytes(deep)).saturatingPlus(stored.bytes(deep))
            .saturatingPlus(deep > 0 ? target.width.saturatingTimes(4096) : 0)
            .saturatingPlus(keepsGainMap ? gainMapMemory : 0)
            // The picture that applying it makes, and one more that becomes sRGB's if the map is damaged.
            .saturatingPlus(appliesGainMap ? target.bytes(8 + 4) : 0)
            // The profile is held in the file's pieces, as a whole, and as LittleCMS reads it.
            .saturatingPlus(profileBytes.saturatingTimes(3))
    }

    /// The most rows that a decoder hands over at a time, with those that its library buffers.
    private static let rowsAtATime = 64
}

extension PixelSize {
    /// The bytes of this many pixels, or `Int.max` on overflow.
    func bytes(_ bytesPerPixel: Int) -> Int { width.saturatingTimes(height).saturatingTimes(bytesPerPixel) }
}

extension Int {
    /// The product, or `Int.max` on overflow. Sizes that come from a file may be any.
    package func saturatingTimes(_ other: Int) -> Int {
        let (product, overflows) = multipliedReportingOverflow(by: other)
        return overflows ? .max : product
    }

    /// The sum, or `Int.max` on overflow.
    package func saturatingPlus(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

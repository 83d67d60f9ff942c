import Pipeline

extension ImageHeader {
    /// The bytes that decoding takes at its peak, as far as the header tells: the picture that it gives, what its format
    /// has to hold on the way (``memory``), and the rows and weights of its scaling.
    func decodingMemory(box: PixelSize?, frames wanted: Int) -> Int {
        let target = storedSize(for: box)
        let count = max(1, min(frames, wanted))
        var frame = target.bytes(hasAlpha || count > 1 ? 4 : 3)
        let stored = storedRegion.size
        if excessPixels > 1 { frame = min(stored.bytes(4), frame.saturatingTimes(excessPixels)) }
        // A picture that is turned is there twice for a moment.
        let copies = orientation == .up ? 0 : frame
        let scaling = ResamplePlan(from: stored, to: target, reserve: DecodeQuality.quality.blockReserve)
        let rows = storedSize.width.saturatingTimes(Self.rowsAtATime * 4)
        return memory.saturatingPlus(copies).saturatingPlus(frame.saturatingTimes(count)).saturatingPlus(rows)
            .saturatingPlus(target == stored ? 0 : scaling.memory(channels: 4))
            .saturatingPlus(stored.bytes(1) <= wholeLimit ? stored.bytes(wholeBytes) : 0)
            // The profile is there in the file's pieces, as a whole, and as LittleCMS reads it.
            .saturatingPlus(profileBytes.saturatingTimes(3))
    }

    /// The most rows that a decoder hands over at a time, and what its library keeps of them before that.
    private static let rowsAtATime = 64
}

extension PixelSize {
    /// The bytes of a number of pixels, or `Int.max` if that is too many to count.
    func bytes(_ bytesPerPixel: Int) -> Int { width.saturatingTimes(height).saturatingTimes(bytesPerPixel) }
}

extension Int {
    /// The product, or the largest number there is: of sizes that a file says, which may be any.
    package func saturatingTimes(_ other: Int) -> Int {
        let (product, overflows) = multipliedReportingOverflow(by: other)
        return overflows ? .max : product
    }

    /// The sum, or the largest number there is.
    package func saturatingPlus(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

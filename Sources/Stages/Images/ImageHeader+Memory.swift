import Pipeline

extension ImageHeader {
    /// The bytes that decoding takes at its peak, as far as the header tells: the picture that it gives, and what has to
    /// be held on the way.
    func decodingMemory(box: PixelSize?, frames wanted: Int) -> Int {
        let target = storedSize(for: box)
        let count = max(1, min(frames, wanted))
        var frame = target.bytes(hasAlpha || count > 1 ? 4 : 3)
        // libwebp leaves the kernel four times as many pixels as are wanted, if it has them.
        if format == .webp { frame = min(storedSize.bytes(4), frame.saturatingTimes(4)) }
        // A picture that is turned is there twice for a moment.
        let copies = orientation == .up ? 0 : frame
        return memory.saturatingPlus(copies).saturatingPlus(frame.saturatingTimes(count))
    }
}

extension PixelSize {
    /// The bytes of so many pixels, or the largest number there is.
    func bytes(_ bytesPerPixel: Int) -> Int { width.saturatingTimes(height).saturatingTimes(bytesPerPixel) }
}

extension Int {
    fileprivate func saturatingTimes(_ other: Int) -> Int {
        let (product, overflows) = multipliedReportingOverflow(by: other)
        return overflows ? .max : product
    }

    fileprivate func saturatingPlus(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

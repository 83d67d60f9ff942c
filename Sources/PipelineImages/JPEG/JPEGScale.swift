import Pipeline

/// At which of its own scales a JPEG is decoded for a box, and what is left to do.
struct JPEGScale {
    /// Decoded at eighths/8.
    let eighths: Int
    /// The size that is wanted, in stored orientation.
    let target: PixelSize
    /// The size that is stored.
    let stored: PixelSize

    /// The variance of the pixels of a scaled decode, as a blur: measured on photographs, a little less than 1/12.
    private static let blur = 0.07

    init(header: ImageHeader, box: PixelSize?, quality: DecodeQuality) {
        self.init(stored: header.storedSize, target: header.storedSize(for: box), quality: quality)
    }

    init(stored: PixelSize, target: PixelSize, quality: DecodeQuality) {
        self.stored = stored
        self.target = target
        let excess = min(
            Double(stored.width) / Double(target.width), Double(stored.height) / Double(target.height))
        // The other eighths have no SIMD in libjpeg-turbo: they take longer than the full size.
        eighths = [1, 2, 4].first { excess * Double($0) / 8 >= quality.jpegReserve } ?? 8
    }

    /// How to get from the scaled decode to the target.
    func plan(from size: PixelSize, quality: DecodeQuality) -> ResamplePlan {
        var plan = ResamplePlan(from: size, to: target, reserve: quality.blockReserve)
        guard eighths < 8 else { return plan }
        // libjpeg rounds the size up; the picture goes only so far.
        plan.extent = (Double(stored.width * eighths) / 8, Double(stored.height * eighths) / 8)
        plan.blur = Self.blur
        return plan
    }
}

import Pipeline

/// At which of its own scales a JPEG is decoded for a box, and what is left to do.
struct JPEGScale {
    /// Decoded at eighths/8.
    let eighths: Int
    /// The size that is wanted, in stored orientation.
    let target: PixelSize
    /// The stored pixels that are wanted.
    let region: PixelRegion

    /// The variance of the pixels of a scaled decode, as a blur: measured on photographs, a little less than 1/12.
    private static let blur = 0.07

    init(header: ImageHeader, box: PixelSize?, quality: DecodeQuality) {
        self.init(region: header.storedRegion, target: header.storedSize(for: box), quality: quality)
    }

    init(region: PixelRegion, target: PixelSize, quality: DecodeQuality) {
        self.region = region
        self.target = target
        let excess = min(
            Double(region.size.width) / Double(target.width), Double(region.size.height) / Double(target.height))
        // The other eighths have no SIMD in libjpeg-turbo: they take longer than the full size.
        eighths = [1, 2, 4].first { excess * Double($0) / 8 >= quality.jpegReserve } ?? 8
    }

    /// The pixels of the scaled decode that the region touches; libjpeg rounds the picture's size up, too.
    var window: PixelRegion {
        let (left, top) = (region.x * eighths / 8, region.y * eighths / 8)
        let (right, bottom) = ((region.right * eighths + 7) / 8, (region.bottom * eighths + 7) / 8)
        return PixelRegion(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }

    /// How to get from the window to the target.
    func plan(quality: DecodeQuality) -> ResamplePlan {
        let window = window
        var plan = ResamplePlan(from: window.size, to: target, reserve: quality.blockReserve)
        guard eighths < 8 else { return plan }
        // The region begins and ends within a pixel.
        plan.origin = (
            Double(region.x * eighths) / 8 - Double(window.x), Double(region.y * eighths) / 8 - Double(window.y)
        )
        plan.extent = (Double(region.size.width * eighths) / 8, Double(region.size.height * eighths) / 8)
        plan.blur = Self.blur
        return plan
    }
}

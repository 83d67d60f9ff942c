import Pipeline

/// Chooses the scale of a JPEG's decode for a box, and plans the scaling that remains.
struct JPEGScale {
    /// The picture is decoded at the scale eighths/8.
    let eighths: Int
    /// The wanted size, in stored orientation.
    let target: PixelSize
    /// The wanted region, in stored pixels.
    let region: PixelRegion

    /// The variance of the blur that a scaled decode causes, in its pixels: a little less than 1/12, as measured on
    /// photographs.
    private static let blur = 0.07

    init(header: ImageHeader, box: PixelSize?, quality: DecodeQuality) {
        self.init(region: header.storedRegion, target: header.storedSize(for: box), quality: quality)
    }

    init(region: PixelRegion, target: PixelSize, quality: DecodeQuality) {
        self.region = region
        self.target = target
        let excess = min(
            Double(region.size.width) / Double(target.width), Double(region.size.height) / Double(target.height))
        // The other eighths have no SIMD code in libjpeg-turbo and take longer than the full size.
        eighths = [1, 2, 4].first { excess * Double($0) / 8 >= quality.jpegReserve } ?? 8
    }

    /// The pixels of the scaled decode that the region touches. It is rounded up, as libjpeg rounds the picture's size.
    var window: PixelRegion {
        let (left, top) = (region.x * eighths / 8, region.y * eighths / 8)
        let (right, bottom) = ((region.right * eighths + 7) / 8, (region.bottom * eighths + 7) / 8)
        return PixelRegion(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }

    /// The scaling from the window to the target.
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

import Pipeline

extension ImageHeader {
    /// How every decoder ends: from the profile's colours to sRGB, and upright.
    /// - Parameters:
    ///   - pixels: the picture as it is stored, scaled to `size`.
    ///   - profile: the colours that the pixels have; `nil` or empty for sRGB.
    /// - Throws: `LoadError.Code.undecodable` if the colours can't be converted; `CancellationError`.
    func finished(
        _ pixels: consuming [UInt8], size: PixelSize, layout: PixelLayout, profile: [UInt8]?,
        _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        var pixels = pixels
        if let profile, !profile.isEmpty {
            try VipsPixels.convertToSRGB(
                &pixels, size: size, channels: layout.channelCount, profile: profile, cancellation: cancellation)
        }
        guard orientation != .up else { return pixels }
        return try orientation.applied(
            to: pixels, size: size, channels: layout.channelCount, cancellation: cancellation)
    }

    /// The still picture that this makes.
    func image(
        _ pixels: consuming [UInt8], size: PixelSize, layout: PixelLayout, profile: [UInt8]?,
        _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        DecodedImage(
            size: orientation.applied(to: size), layout: layout,
            pixels: try finished(pixels, size: size, layout: layout, profile: profile, cancellation),
            nativeSize: self.size, region: region)
    }
}

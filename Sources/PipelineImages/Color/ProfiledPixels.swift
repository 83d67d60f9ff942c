import Pipeline

/// Converts the colours of pixels in memory from an ICC profile to sRGB.
enum ProfiledPixels {
    /// Converts pixels in place. An sRGB profile needs no conversion. Most others are a matrix and curves, which don't need
    /// libvips and LittleCMS. Without the trait `Vips`, others are ignored.
    static func convertToSRGB(
        _ pixels: inout [UInt8], size: PixelSize, channels: Int, profile: [UInt8], cancellation: WorkCancellation
    ) throws {
        let colors = ICCProfile(profile)
        if channels > 1, colors.space == "GRAY" {
            return try convertGrays(
                &pixels, size: size, channels: channels, profile: profile, cancellation: cancellation)
        }
        // A profile of another colour space than the file's is ignored, as in browsers.
        guard colors.space == (channels == 1 ? "GRAY" : "RGB "), channels == 1 || !colors.isSRGB else { return }
        if let conversion = ICCConversion(colors, channels: channels) { return conversion.apply(to: &pixels) }
        #if Vips
        try VipsPixels.convertToSRGB(
            &pixels, size: size, channels: channels, profile: profile, cancellation: cancellation)
        #endif
    }

    /// Converts greys that are stored as colours, because the picture has transparency, by their one level.
    private static func convertGrays(
        _ pixels: inout [UInt8], size: PixelSize, channels: Int, profile: [UInt8], cancellation: WorkCancellation
    ) throws {
        let starts = stride(from: 0, to: pixels.count, by: channels)
        guard starts.allSatisfy({ pixels[$0] == pixels[$0 + 1] && pixels[$0] == pixels[$0 + 2] }) else { return }
        var grays = starts.map { pixels[$0] }
        try convertToSRGB(&grays, size: size, channels: 1, profile: profile, cancellation: cancellation)
        for (start, gray) in zip(starts, grays) {
            for channel in 0..<3 { pixels[start + channel] = gray }
        }
    }
}

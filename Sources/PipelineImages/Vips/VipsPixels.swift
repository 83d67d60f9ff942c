import CImages
import Pipeline

/// Converts the colours of pixels in memory, by libvips where necessary.
enum VipsPixels {
    /// Converts pixels from an ICC profile to sRGB, in place. An sRGB profile needs no conversion. Most others are a
    /// matrix and curves, which don't need libvips and LittleCMS.
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
        try VipsCall.run(cancellation) { call in
            try pixels.withUnsafeMutableBufferPointer { buffer in
                try profile.withUnsafeBufferPointer { profile in
                    guard let start = buffer.baseAddress, let profileStart = profile.baseAddress else { return }
                    guard
                        cvips_convert_to_srgb(
                            start, Int32(size.width), Int32(size.height), Int32(channels), profileStart,
                            profile.count, call.cancellation, &call.failure)
                    else {
                        throw LoadError(
                            .undecodable, subject: "", "The colours can't be converted to sRGB (\(call.message)).")
                    }
                }
            }
        }
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

import CImages
import Pipeline

/// What libvips does to pixels in memory.
enum VipsPixels {
    /// Converts from an ICC profile to sRGB, in place; from sRGB's own there is nothing to do, and most others are a
    /// matrix and curves, for which libvips and LittleCMS aren't needed.
    static func convertToSRGB(
        _ pixels: inout [UInt8], size: PixelSize, channels: Int, profile: [UInt8], cancellation: WorkCancellation
    ) throws {
        let colours = ICCProfile(profile)
        if channels > 1, colours.space == "GRAY" {
            return try convertGreys(
                &pixels, size: size, channels: channels, profile: profile, cancellation: cancellation)
        }
        // A profile for other colours than the file's is as good as none, as in browsers.
        guard colours.space == (channels == 1 ? "GRAY" : "RGB "), channels == 1 || !colours.isSRGB else { return }
        if let conversion = ICCConversion(colours, channels: channels) { return conversion.apply(to: &pixels) }
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

    /// Converts what is grey and has transparency, and so is held as colours, by its one level.
    private static func convertGreys(
        _ pixels: inout [UInt8], size: PixelSize, channels: Int, profile: [UInt8], cancellation: WorkCancellation
    ) throws {
        let starts = stride(from: 0, to: pixels.count, by: channels)
        guard starts.allSatisfy({ pixels[$0] == pixels[$0 + 1] && pixels[$0] == pixels[$0 + 2] }) else { return }
        var greys = starts.map { pixels[$0] }
        try convertToSRGB(&greys, size: size, channels: 1, profile: profile, cancellation: cancellation)
        for (start, grey) in zip(starts, greys) {
            for channel in 0..<3 { pixels[start + channel] = grey }
        }
    }
}

import CVips
import Pipeline

/// What libvips does to pixels in memory.
enum VipsPixels {
    /// Converts from an ICC profile to sRGB, in place; from sRGB's own there is nothing to do, and most others are a
    /// matrix and curves, for which libvips and LittleCMS aren't needed.
    static func convertToSRGB(
        _ pixels: inout [UInt8], size: PixelSize, channels: Int, profile: [UInt8], cancellation: WorkCancellation
    ) throws {
        if channels > 1, ICCProfile(profile).isSRGB { return }
        if let conversion = ICCConversion(ICCProfile(profile), channels: channels) {
            return conversion.apply(to: &pixels)
        }
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
}

#if Vips
import CVips
import Pipeline

/// Converts the colours of pixels in memory by libvips.
enum VipsPixels {
    /// Converts pixels from an ICC profile to sRGB, in place.
    static func convertToSRGB(
        _ pixels: inout [UInt8], size: PixelSize, channels: Int, profile: [UInt8], cancellation: WorkCancellation
    ) throws {
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

    /// Converts inks from an ICC profile to sRGB.
    /// - Returns: `nil` if the profile can't be used.
    static func colors(
        ofInks inks: [UInt8], size: PixelSize, profile: [UInt8], cancellation: WorkCancellation
    ) throws -> [UInt8]? {
        var isUsable = true
        let colors = try VipsCall.run(cancellation) { call in
            try [UInt8](unsafeUninitializedCapacity: inks.count / 4 * 3) { buffer, count in
                try inks.withUnsafeBufferPointer { inks in
                    try profile.withUnsafeBufferPointer { profile in
                        guard let out = buffer.baseAddress, let start = inks.baseAddress,
                            let profileStart = profile.baseAddress
                        else { return }
                        guard
                            cvips_convert_inks(
                                start, Int32(size.width), Int32(size.height), profileStart, profile.count, out,
                                &isUsable, call.cancellation, &call.failure)
                        else {
                            throw LoadError(
                                .undecodable, subject: "", "The inks can't be converted to sRGB (\(call.message)).")
                        }
                        count = buffer.count
                    }
                }
            }
        }
        return isUsable ? colors : nil
    }
}
#endif

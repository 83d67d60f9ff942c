import CVips
import Pipeline

/// What libvips does to pixels in memory.
enum VipsPixels {
    /// Resizes with a Lanczos-3 kernel; alpha is premultiplied meanwhile.
    static func resized(
        _ pixels: UnsafePointer<UInt8>, from size: PixelSize, to result: PixelSize, channels: Int,
        cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let count = result.width * result.height * channels
        return try VipsCall.run(cancellation) { call in
            try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                guard let start = buffer.baseAddress,
                    cvips_resize(
                        pixels, Int32(size.width), Int32(size.height), Int32(channels), start, Int32(result.width),
                        Int32(result.height), call.cancellation, &call.failure)
                else {
                    throw LoadError(
                        .stageFailed, subject: "", "\(size) can't be scaled to \(result) (\(call.message)).")
                }
                initialized = count
            }
        }
    }

    /// Converts from an ICC profile to sRGB, in place; from sRGB's own there is nothing to do.
    static func convertToSRGB(
        _ pixels: inout [UInt8], size: PixelSize, channels: Int, profile: [UInt8], cancellation: WorkCancellation
    ) throws {
        if channels > 1, ICCProfile(profile).isSRGB { return }
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

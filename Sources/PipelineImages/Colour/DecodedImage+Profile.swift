import Pipeline

extension DecodedImage {
    /// A still picture in sRGB of one in a profile's colours; an empty profile is sRGB's.
    func converted(from profile: [UInt8], cancellation: WorkCancellation) throws -> DecodedImage {
        guard !profile.isEmpty else { return self }
        var pixels = try withPixels { try $0.copied(cancellation) }
        try VipsPixels.convertToSRGB(
            &pixels, size: size, channels: layout.channelCount, profile: profile, cancellation: cancellation)
        return DecodedImage(size: size, layout: layout, pixels: pixels, nativeSize: nativeSize, region: region)
    }
}

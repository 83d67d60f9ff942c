import Pipeline

extension DecodedImage {
    /// Returns a still picture converted from a colour profile to sRGB. An empty profile means sRGB.
    func converted(from profile: [UInt8], cancellation: WorkCancellation) throws -> DecodedImage {
        guard !profile.isEmpty else { return self }
        var pixels = try withPixels { try $0.copied(cancellation) }
        try ProfiledPixels.convertToSRGB(
            &pixels, size: size, channels: layout.channelCount, profile: profile, cancellation: cancellation)
        return try DecodedImage(validating: pixels, size: size, layout: layout, nativeSize: nativeSize, region: region)
    }
}

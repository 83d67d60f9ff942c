import Pipeline

extension DecodedImage {
    /// Returns a still picture converted from a colour profile to sRGB, or left in the colours of a header. An empty
    /// profile means sRGB.
    func converted(
        from profile: [UInt8], _ header: ImageHeader, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        guard !profile.isEmpty else { return self }
        var pixels = try withPixels { try $0.copied(cancellation) }
        if header.pixelColors == .sRGB {
            try ProfiledPixels.convertToSRGB(
                &pixels, size: size, channels: layout.channelCount, profile: profile, cancellation: cancellation)
        } else {
            ICCProfile(profile).unifyCurves(of: &pixels, layout)
        }
        return try DecodedImage(validating: pixels, size: size, layout: layout, nativeSize: nativeSize, region: region)
    }
}

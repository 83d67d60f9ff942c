import CImages
import Pipeline

/// CMYK pixels, 0 meaning no ink, and their conversion to sRGB.
struct InkPixels {
    private let inks: [UInt8]
    private let size: PixelSize
    private let profile: [UInt8]

    /// - Parameter profile: The ICC profile of the inks. A profile of another colour space is ignored.
    init(_ inks: [UInt8], size: PixelSize, profile: [UInt8]) {
        self.inks = inks
        self.size = size
        self.profile = profile
    }

    /// Returns the pixels in sRGB, converted by the profile. Without one, inks are mixed as browsers do.
    /// - Throws: `CancellationError`.
    func colors(_ cancellation: WorkCancellation) throws -> [UInt8] {
        if ICCProfile(profile).space == "CMYK", let colors = try converted(cancellation) { return colors }
        var colors: [UInt8] = []
        colors.reserveCapacity(inks.count / 4 * 3)
        let step = 1 << 20
        for start in stride(from: 0, to: inks.count, by: step) {
            try cancellation.check()
            let count = min(step, inks.count - start) / 4
            colors += [UInt8](unsafeUninitializedCapacity: 3 * count) { buffer, written in
                inks.withUnsafeBufferPointer { inks in
                    guard let out = buffer.baseAddress, let start = inks.baseAddress.map({ $0 + start }) else { return }
                    cresample_mix_inks(start, out, count)
                    written = 3 * count
                }
            }
        }
        return colors
    }

    /// `nil` if the profile can't be used, which takes libvips.
    private func converted(_ cancellation: WorkCancellation) throws -> [UInt8]? {
        #if Vips
        try VipsPixels.colors(ofInks: inks, size: size, profile: profile, cancellation: cancellation)
        #else
        nil
        #endif
    }
}

package import Pipeline

extension DecodedImage {
    /// The size before a decoder or `Downscale` reduced it, so that a decoder's rounding doesn't show: what a crop left of
    /// the picture, or the native one; its own if a transform gave it another aspect.
    package var unreducedSize: PixelSize {
        if let croppedSize { return croppedSize }
        let skew = Double(width) * Double(nativeSize.height) - Double(height) * Double(nativeSize.width)
        return abs(skew) <= Double(max(nativeSize.width, nativeSize.height)) ? nativeSize : size
    }
}

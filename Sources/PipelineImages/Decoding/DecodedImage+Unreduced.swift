import Pipeline

extension DecodedImage {
    /// The size before a decoder or `Downscale` reduced it: the native one, so that a decoder's rounding doesn't show; its
    /// own if a transform gave it another aspect.
    var unreducedSize: PixelSize {
        let skew = Double(width) * Double(nativeSize.height) - Double(height) * Double(nativeSize.width)
        return abs(skew) <= Double(max(nativeSize.width, nativeSize.height)) ? nativeSize : size
    }
}

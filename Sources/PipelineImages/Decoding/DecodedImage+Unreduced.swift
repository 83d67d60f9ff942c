package import Pipeline

extension DecodedImage {
    /// The size before a decoder or `Downscale` reduced the picture: that of the crop, or the native size. If a
    /// transform changed the aspect ratio, it is the current size. Calculating with it avoids a decoder's rounding.
    package var unreducedSize: PixelSize {
        if let croppedSize { return croppedSize }
        let skew = Double(width) * Double(nativeSize.height) - Double(height) * Double(nativeSize.width)
        return abs(skew) <= Double(max(nativeSize.width, nativeSize.height)) ? nativeSize : size
    }
}

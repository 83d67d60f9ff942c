public import Pipeline

/// Which decoder is for which format.
public struct ImageDecoders: Sendable {
    private var byFormat: [ImageFormat: any ImageDecoding] = [:]

    /// Registers decoders; a later one takes a format over from an earlier one.
    public init(_ decoders: [any ImageDecoding]) {
        for decoder in decoders {
            for format in decoder.formats { byFormat[format] = decoder }
        }
    }

    /// libjpeg-turbo for JPEG, libwebp for WebP, libtiff for TIFF, libavif for AVIF, libheif for HEIC, decoders of our own for
    /// PNG, GIF and BMP, and libvips for SVG and JPEG XL, which are decoded only where they are chosen.
    public static let standard = ImageDecoders([
        VipsDecoder(), AVIFDecoder(), HEICDecoder(), WebPDecoder(), JPEGDecoder(), PNGDecoder(), GIFDecoder(),
        TIFFDecoder(), BMPDecoder(),
    ])

    /// The same with another decoder, which takes over the formats that it is for.
    public func adding(_ decoder: any ImageDecoding) -> ImageDecoders {
        var decoders = self
        for format in decoder.formats { decoders.byFormat[format] = decoder }
        return decoders
    }

    /// The decoder of a format.
    public func decoder(for format: ImageFormat) -> (any ImageDecoding)? { byFormat[format] }
}

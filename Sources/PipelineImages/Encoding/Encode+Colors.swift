import Pipeline

extension Encode {
    /// Describes a picture's colours in the metadata to write, or converts them to sRGB for a format that can't say which
    /// they are. Returns the picture labelled as sRGB, as encoders get it, with its gain map if that still leads from it.
    static func described(
        _ image: DecodedImage, _ encoder: (any ImageEncoding)?, _ options: EncodeOptions,
        _ metadata: inout EmbeddedMetadata, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        if image.layout.colorSpace.needsDepth {
            guard encoder?.holdsHDR(options) == true else {
                metadata.mastering = nil
                // The map makes a better SDR picture than tone mapping does.
                if image.gainMap?.parameters.isBaseHDR == true, let map = GainMapApplication(image) {
                    var base = try map.applied(to: image, cancellation)
                    base.gainMap = map.exchanged
                    return base
                }
                return try image.convertedToSRGB(cancellation)
            }
            // Profiles describe it badly.
            metadata.profile = []
            metadata.colors = image.layout.colorSpace.codedColors
            return image.labelled(.sRGB)
        }
        metadata.mastering = nil
        let image = encoder?.holdsDepth == true && !image.isAnimated ? image : try image.reducedToBytes(cancellation)
        let space = image.layout.colorSpace
        guard space.isNamed, space != .sRGB else { return image }
        guard encoder?.holdsProfile == true else { return try image.convertedToSRGB(cancellation) }
        (metadata.profile, metadata.colors) = (space.profile, space.codedColors)
        return image.labelled(.sRGB)
    }

    /// The map as it is written with a picture; `nil` if the encoder takes none.
    static func gainMap(
        of image: DecodedImage, _ encoder: (any ImageEncoding)?, _ cancellation: WorkCancellation
    ) throws -> GainMap? {
        guard let encoder, encoder.holdsGainMap, !image.isAnimated, var map = image.gainMap else { return nil }
        // Behind what is transparent, an encoder without alpha writes white.
        if !encoder.holdsAlpha, image.layout.hasAlpha {
            map = try map.covered(by: image.transparency(cancellation), of: image.size, cancellation)
        }
        return try map.fitted(to: image.size, cancellation)
    }
}

extension ImageEncoding {
    /// Whether files with these options hold HDR. The 8 bits of a palette are too few.
    func holdsHDR(_ options: EncodeOptions) -> Bool {
        holdsHDR && holdsDepth && fidelity(of: options) != .fixed
    }
}

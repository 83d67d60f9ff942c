import Pipeline

extension KeptMetadata {
    /// Returns the metadata to write with a picture that was made from a file.
    func blocks(
        of source: DecodedSource, _ codecs: ImageCodecs, for image: DecodedImage, cancellation: WorkCancellation
    ) throws -> EmbeddedMetadata {
        guard self != .none || image.layout.colorSpace.needsDepth,
            let decoder = source.decoder ?? codecs.codec(for: source.format)?.decoder
        else {
            return EmbeddedMetadata()
        }
        return try blocks(
            of: source.file.bytes, by: decoder, for: image.size, isGray: image.layout == .gray, cancellation)
    }

    /// Returns the metadata to write with a picture of a size that was made from a file.
    package func blocks(
        of bytes: [UInt8], by decoder: any ImageDecoding, for size: PixelSize, isGray: Bool,
        _ cancellation: WorkCancellation
    ) throws -> EmbeddedMetadata {
        if let remote = decoder.remote {
            return try remote.blocks(self, of: bytes, for: size, isGray: isGray, cancellation: cancellation)
        }
        let found = try decoder.metadata(of: bytes, cancellation: cancellation)
        var kept = EmbeddedMetadata()
        kept.mastering = found.mastering
        switch self {
        case .none: break
        case .copyright:
            guard let block = EXIFBlock(found.exif) else { break }
            let entries = block.mainEntries
            kept.exif = EXIFRewriting.composed(
                of: [EXIFBlock.Tag.artist, EXIFBlock.Tag.copyright].map {
                    (tag: $0, text: block.text($0, in: entries).map { Array($0.utf8) })
                })
        case .icc: kept.profile = profile(for: found, isGray)
        case .all, .noGPS:
            kept.exif = EXIFRewriting.corrected(found.exif, for: size)
            kept.xmp = XMPRewriting.corrected(found.xmp)
            if self == .noGPS {
                kept.exif = EXIFRewriting.withoutLocation(kept.exif)
                if XMPRewriting.hasLocation(kept.xmp) { kept.xmp = [] }
            }
            kept.profile = profile(for: found, isGray)
        }
        return kept
    }

    /// Returns the sRGB profile for a source with any profile, since the pixels are converted. Greyscale gets none, as
    /// a colour profile would be wrong.
    private func profile(for found: EmbeddedMetadata, _ isGray: Bool) -> [UInt8] {
        found.profile.isEmpty || isGray ? [] : ICCProfile.sRGB
    }
}

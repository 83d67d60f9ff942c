import Pipeline

extension KeptMetadata {
    /// Returns the metadata to write with a picture that was made from a file.
    func blocks(
        of source: DecodedSource, _ codecs: ImageCodecs, for image: DecodedImage, cancellation: WorkCancellation
    ) throws -> EmbeddedMetadata {
        guard self != .none, let decoder = source.decoder ?? codecs.codec(for: source.format)?.decoder else {
            return EmbeddedMetadata()
        }
        let found = try decoder.metadata(of: source.file.bytes, cancellation: cancellation)
        var kept = EmbeddedMetadata()
        switch self {
        case .none: break
        case .copyright:
            guard let block = EXIFBlock(found.exif) else { break }
            let entries = block.mainEntries
            kept.exif = EXIFRewriting.composed(
                of: [EXIFBlock.Tag.artist, EXIFBlock.Tag.copyright].map {
                    (tag: $0, text: block.text($0, in: entries).map { Array($0.utf8) })
                })
        case .icc: kept.profile = profile(for: found, image)
        case .all, .noGPS:
            kept.exif = EXIFRewriting.corrected(found.exif, for: image.size)
            kept.xmp = XMPRewriting.corrected(found.xmp)
            if self == .noGPS {
                kept.exif = EXIFRewriting.withoutLocation(kept.exif)
                if XMPRewriting.hasLocation(kept.xmp) { kept.xmp = [] }
            }
            kept.profile = profile(for: found, image)
        }
        return kept
    }

    /// Returns the sRGB profile for a source with any profile, since the pixels are converted. Greyscale gets none, as
    /// a colour profile would be wrong.
    private func profile(for found: EmbeddedMetadata, _ image: DecodedImage) -> [UInt8] {
        found.profile.isEmpty || image.layout == .grey ? [] : ICCProfile.sRGB
    }
}

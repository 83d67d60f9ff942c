import Pipeline

/// The gain map of a JPEG: one of the pictures that follow the first one, as the index of its multi-picture format
/// (CIPA DC-007) or the directory in its XMP says.
struct JPEGGainMap {
    let description: GainMapDescription
    /// Where the map's file begins; `nil` if it is missing.
    let place: Int?
    /// The ICC profile of the map's file; empty without one.
    private(set) var profile: [UInt8] = []

    /// Finds the map; `nil` without one. A file without either list of pictures costs no more than a walk over its segments.
    /// - Throws: `CancellationError`.
    init?(in bytes: [UInt8], _ cancellation: WorkCancellation) throws {
        let first = try JPEGSegments(bytes[...], cancellation)
        let mentions = XMPRewriting.hasSecondPicture(first.xmp)
        guard mentions || first.pictureIndex != nil || first.gainMapMetadata != nil else { return nil }
        let exif = EXIFBlock(first.exif)
        let xmp = mentions ? XMPProperties(first.xmp) : nil
        let places =
            (first.pictureIndex.map { MultiPictureIndex($0).places } ?? [])
            + (xmp.map { PictureDirectory($0).places(in: bytes.count) } ?? [])
        for place in places {
            guard let picture = bytes[...].slice(at: place, count: min(Self.longestHead, bytes.count - place)),
                picture.starts(with: [0xff, 0xd8])
            else { continue }
            let segments = try JPEGSegments(picture, cancellation)
            if let found = GainMapDescription(segments, exif) {
                (description, self.place, profile) = (found, place, segments.metadata.profile)
                return
            }
        }
        // The metadata may have been copied without the map.
        let isISO = first.gainMapMetadata != nil
        guard isISO || (mentions && GainMapXMP(first.xmp).isAdobe) else { return nil }
        description = GainMapDescription(
            isISO ? .iso : .adobe, size: nil, channelCount: nil, fault: "the map isn't in the file")
        place = nil
    }

    /// The part of a picture in which its segments end. A segment has 64 KB at most.
    private static let longestHead = 1 << 20
}

extension GainMapDescription {
    /// Describes a picture that is a gain map; `nil` for any other.
    /// - Parameter exif: The first picture's EXIF.
    fileprivate init?(_ picture: JPEGSegments, _ exif: EXIFBlock?) {
        let (size, count) = (picture.size, picture.components.map { $0 == 1 ? 1 : 3 })
        let xmp = GainMapXMP(picture.xmp)
        // The first picture has only the version of ISO 21496-1.
        if let iso = picture.gainMapMetadata {
            self.init(.iso, size: size, channelCount: count) { () throws(GainMapFault) in
                try GainMapParameters(iso: iso)
            }
            if parameters != nil || !xmp.isAdobe { return }
        }
        if xmp.isAdobe {
            self.init(.adobe, size: size, channelCount: count, reading: xmp.adobeParameters)
        } else if xmp.isApple {
            self.init(.apple, size: size, channelCount: count) { () throws(GainMapFault) in
                try xmp.appleParameters(exif)
            }
        } else {
            return nil
        }
    }
}

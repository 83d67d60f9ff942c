import Pipeline

/// A decoder that can replace a file's metadata without changing the coded pixels.
package protocol MetadataRewriting {
    /// Returns the file with these blocks in place of its EXIF and XMP. The colour profile is kept. Second pictures,
    /// such as previews and gain maps, and bytes after the file's end are dropped.
    /// - Parameter metadata: Decides about comments, captions and other metadata, and about manifests of provenance.
    /// - Throws: `LoadError.Code.undecodable` if the file is damaged; `CancellationError`.
    func rewritten(
        _ bytes: [UInt8], exif: [UInt8], xmp: [UInt8], without metadata: StrippedMetadata,
        _ cancellation: WorkCancellation
    ) throws -> [UInt8]
}

/// The metadata that `ImageCodecs.stripped(_:of:)` removes from a file.
package struct StrippedMetadata: Sendable, Hashable {
    /// Whether only the GPS position is removed, with the pictures and manifests that may contain it.
    package let isLocation: Bool
    /// Whether the manifests of provenance (C2PA) in the file are kept. They are signed for all other bytes of the
    /// file, so they stay valid only if nothing else is removed.
    package let keepsProvenance: Bool

    package init(isLocation: Bool, keepsProvenance: Bool) {
        self.isLocation = isLocation
        self.keepsProvenance = keepsProvenance
    }

    /// Everything except the orientation and the colour profile, on which the picture's look depends.
    package static let all = StrippedMetadata(isLocation: false, keepsProvenance: false)
    /// The GPS position.
    package static let location = StrippedMetadata(isLocation: true, keepsProvenance: false)
}

extension ImageCodecs {
    /// Returns a file without metadata. Its coded pixels are unchanged.
    /// - Throws: `LoadError.Code.unsupportedType` unless it is a JPEG, PNG or WebP; `LoadError.Code.undecodable` if it
    ///   is damaged; `LoadError.Code.tooMuchTime`; `CancellationError`.
    package func stripped(
        _ bytes: [UInt8], of metadata: StrippedMetadata, within time: WorkTime
    ) async throws -> [UInt8] {
        let isLeft = try !readableCodec(of: bytes).decoder.canBeStopped
        return try await time.run(on: .decoding, priority: .normal, isLeft: isLeft) {
            try stripped(bytes, of: metadata, $0)
        }
    }

    /// The same on the caller's thread.
    package func stripped(
        _ bytes: [UInt8], of metadata: StrippedMetadata, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let codec = try readableCodec(of: bytes)
        let stripped = try metadata.stripped(bytes, codec.format, by: codec.decoder, cancellation)
        // The result may come from another process, and replace the only copy.
        guard stripped.count <= StrippedMetadata.mostBytes(of: bytes.count),
            self.codec(of: stripped)?.format == codec.format
        else {
            throw LoadError(
                .undecodable, subject: "",
                "What is left of the file isn't \(codec.format), so it isn't written. Get a new copy of the file.")
        }
        return stripped
    }
}

extension StrippedMetadata {
    /// The most bytes of a stripped file: an orientation may be added.
    package static func mostBytes(of count: Int) -> Int { count.saturatingPlus(1 << 16) }

    /// Returns a file of a format without this metadata.
    package func stripped(
        _ bytes: [UInt8], _ format: ImageFormat, by decoder: any ImageDecoding, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        if let remote = decoder.remote {
            return try remote.stripped(bytes, of: self, cancellation: cancellation)
        }
        guard let decoder = decoder as? any ImageDecoding & MetadataRewriting else {
            throw LoadError(
                .unsupportedType, subject: "",
                "The file is \(format); only JPEG, PNG and WebP files can be stripped without re-encoding."
            )
        }
        let orientation = try decoder.header(of: bytes, cancellation: cancellation).orientation
        guard isLocation else {
            return try decoder.rewritten(
                bytes, exif: EXIFRewriting.oriented(orientation), xmp: [], without: self, cancellation)
        }
        let found = try decoder.metadata(of: bytes, cancellation: cancellation)
        let isLost = XMPRewriting.hasLocation(found.xmp) || XMPRewriting.hasSecondPicture(found.xmp[...])
        let exif = EXIFRewriting.withoutLocation(found.exif)
        let xmp = keepsProvenance ? found.xmp : XMPRewriting.withoutManifestURL(found.xmp)
        return try decoder.rewritten(
            bytes, exif: exif.isEmpty ? EXIFRewriting.oriented(orientation) : exif, xmp: isLost ? [] : xmp,
            without: self, cancellation)
    }
}

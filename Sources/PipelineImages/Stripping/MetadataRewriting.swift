import Pipeline

/// A decoder whose files can get other metadata without a change to the coded pixels.
protocol MetadataRewriting {
    /// The file with these blocks instead of its own EXIF and XMP. The colour profile stays as it is. Second pictures, such
    /// as previews and gain maps, and what follows the file's end are left out.
    /// - Parameter keepsTexts: Whether comments, captions and other metadata stay too.
    /// - Throws: `LoadError.Code.undecodable` if the file is damaged; `CancellationError`.
    func rewritten(
        _ bytes: [UInt8], exif: [UInt8], xmp: [UInt8], keepsTexts: Bool, _ cancellation: WorkCancellation
    ) throws -> [UInt8]
}

/// What `ImageCodecs.stripped(_:of:)` removes from a file.
package enum StrippedMetadata: Sendable {
    /// All but what the picture's look depends on: the orientation and the colour profile.
    case all
    /// The GPS position.
    case location
}

extension ImageCodecs {
    /// A file without metadata, and otherwise with the same bytes.
    /// - Throws: `LoadError.Code.unsupportedType` unless it is a JPEG, PNG or WebP; `LoadError.Code.undecodable` if it is
    ///   damaged; `CancellationError`.
    package func stripped(_ bytes: [UInt8], of metadata: StrippedMetadata) async throws -> [UInt8] {
        try await BlockingThreads.decoding.run { try stripped(bytes, of: metadata, $0) }
    }

    /// The same on the caller's thread.
    package func stripped(
        _ bytes: [UInt8], of metadata: StrippedMetadata, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let codec = try readableCodec(of: bytes)
        guard let decoder = codec.decoder as? any ImageDecoding & MetadataRewriting else {
            throw LoadError(
                .unsupportedType, subject: "",
                "The file is \(codec.format); only JPEG, PNG and WebP files can be stripped without re-encoding."
            )
        }
        let orientation = try decoder.header(of: bytes, cancellation: cancellation).orientation
        switch metadata {
        case .all:
            return try decoder.rewritten(
                bytes, exif: EXIFRewriting.oriented(orientation), xmp: [], keepsTexts: false, cancellation)
        case .location:
            let found = try decoder.metadata(of: bytes, cancellation: cancellation)
            let isLost = XMPRewriting.hasLocation(found.xmp) || XMPRewriting.hasSecondPicture(found.xmp)
            return try decoder.rewritten(
                bytes, exif: EXIFRewriting.withoutLocation(found.exif), xmp: isLost ? [] : found.xmp,
                keepsTexts: true, cancellation)
        }
    }
}

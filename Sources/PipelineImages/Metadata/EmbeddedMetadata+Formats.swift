import Pipeline

extension EmbeddedMetadata {
    /// What a file carries; nothing is decoded. What can't be read of it counts as not there.
    init(of bytes: [UInt8], format: ImageFormat, cancellation: WorkCancellation) throws {
        self.init()
        switch format {
        case .jpeg: self = try JPEGSegments(bytes, cancellation).metadata
        case .png: self = try PNGMetadata.read(bytes, cancellation)
        case .webp:
            self = try bytes.withUnsafeBufferPointer { buffer in
                let file = try WebPFile(buffer)
                return EmbeddedMetadata(
                    exif: Self.exif(file.chunk("EXIF")), xmp: file.chunk("XMP ") ?? [],
                    profile: file.chunk("ICCP") ?? [])
            }
        case .bmp: profile = try Bitmap(bytes).profile
        case .tiff:
            guard let file = EXIFBlock(bytes) else { return }
            let entries = file.mainEntries
            xmp = file.data(EXIFBlock.Tag.xmp, in: entries)
            profile = file.data(EXIFBlock.Tag.profile, in: entries)
            exif = EXIFRewriting.composed(
                of: EXIFBlock.Tag.texts.map { (tag: $0, text: file.characters($0, in: entries)) })
        case .avif, .heic:
            do {
                let still = try HEIFStill(bytes, format: format, cancellation: cancellation)
                self = still.file.metadata(of: still.picture)
            } catch let error as LoadError {
                // A sequence need not have a still picture.
                guard format == .avif, let sequence = try AVIFSequence(bytes) else { throw error }
                profile = sequence.profile
            }
        default: break
        }
    }

    /// A block without the "Exif" before it.
    static func exif(_ block: [UInt8]?) -> [UInt8] { block.flatMap { EXIFBlock($0) }?.bytes ?? [] }
}

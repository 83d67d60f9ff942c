#if TIFF
import CTIFF
import Pipeline

/// Decodes TIFF row by row with libtiff. A picture that is a single JPEG strip, as cameras and scanners write it, is
/// decoded as a JPEG: libtiff can neither scale such a strip as it decodes nor stop within it.
///
/// Samples of any width become 8 bits a channel. Floating-point samples without a profile are linear light from 0 to 1;
/// brighter greys range from 0 to 255 or to 65535. Signed samples begin at 0, or at the type's minimum if one is
/// negative; those of 8 bits are taken for unsigned, as Pillow does.
struct TIFFDecoder: PreparedOnDemand {
    private let jpeg = JPEGDecoder()

    func prepare() {
        var failure = ctiff_failure()
        _ = ctiff_is_available(&failure)
    }

    /// Reads the first directory without decoding a pixel.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        guard TIFFPages.tags(bytes) <= TIFFPages.mostTags else {
            throw TIFFFile.damaged("it has more than \(TIFFPages.mostTags) tags")
        }
        var header = try bytes.withUnsafeBufferPointer {
            try TIFFFile($0, allowDamage: false, cancellation: cancellation).imageHeader
        }
        header.readsRegions = true
        header.frames = TIFFPages.count(bytes)
        if let (_, inner) = strip(of: bytes, size: header.storedSize, cancellation) { header.memory = inner.memory }
        return header
    }

    /// Decodes at the exact size that fits the box.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        if let (strip, _) = strip(of: bytes, size: header.storedSize, cancellation) {
            return try jpeg.decode(strip.jpeg, header: header, box: box, options: options, cancellation: cancellation)
                .converted(from: strip.profile, header, cancellation: cancellation)
        }
        return try bytes.withUnsafeBufferPointer { buffer in
            let file = try TIFFFile(buffer, allowDamage: options.allowTruncated, cancellation: cancellation)
            let size = header.storedSize(for: box)
            let window = header.storedRegion
            if header.pixelType == .uint16 {
                return try header.deepImage(
                    try file.samples(window), of: window.size, layout: file.layout.with(.uint16), scaledTo: size,
                    cancellation)
            }
            let plan = ResamplePlan(from: window.size, to: size, reserve: options.quality.blockReserve)
            let pixels = try file.pixels(plan, window)
            guard file.isInk else {
                return try header.image(pixels, size: size, layout: file.layout, profile: file.profile, cancellation)
            }
            let colors = try InkPixels(pixels, size: size, profile: file.profile ?? []).colors(cancellation)
            return try header.image(colors, size: size, layout: .rgb, profile: nil, cancellation)
        }
    }

    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        guard let file = EXIFBlock(bytes) else { return EmbeddedMetadata() }
        let entries = file.mainEntries
        return EmbeddedMetadata(
            exif: EXIFRewriting.composed(
                of: EXIFBlock.Tag.texts.map { (tag: $0, text: file.characters($0, in: entries)) }),
            xmp: file.data(EXIFBlock.Tag.xmp, in: entries), profile: file.data(EXIFBlock.Tag.profile, in: entries))
    }

    /// Returns the only strip and its header, if it is a JPEG of the picture's size.
    private func strip(
        of bytes: [UInt8], size: PixelSize, _ cancellation: WorkCancellation
    ) -> (TIFFStrip, ImageHeader)? {
        guard let strip = TIFFStrip(bytes),
            let inner = try? jpeg.header(of: strip.jpeg, cancellation: cancellation),
            inner.storedSize == size
        else { return nil }
        return (strip, inner)
    }
}
#endif

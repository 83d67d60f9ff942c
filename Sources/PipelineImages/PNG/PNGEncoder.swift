import Pipeline

/// Encodes PNG: rows filtered here, some at a time, and deflated with libdeflate, which takes a third of zlib's time.
struct PNGEncoder: ImageEncoding {
    let options: EncodeOptions.PNG

    func encode(
        _ image: DecodedImage, quality: Int, metadata: EmbeddedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8] {
        try ImageFormat.png.check(image.size)
        if let colours = options.colours {
            return try PNGPaletteEncoder(options: options, colours: colours)
                .encode(image, metadata: metadata, cancellation: cancellation)
        }
        let rows = PNGFilteredRows(image, options.filter)
        var file = PNGWriter(capacity: 1024 + rows.length + metadata.profile.count + metadata.exif.count)
        file.writeHeader(image.size, image.layout)
        file.write(metadata)
        try file.write(rows, level: options.compression, cancellation)
        file.writeChunk("IEND", [])
        return file.whole
    }
}

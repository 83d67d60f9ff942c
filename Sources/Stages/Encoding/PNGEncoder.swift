import Pipeline

/// Encodes PNG: rows filtered here, some at a time, and deflated with libdeflate, which takes a third of zlib's time.
///
/// Palettes are left to libvips.
struct PNGEncoder: ImageEncoding {
    let options: EncodeOptions.PNG

    func encode(
        _ image: DecodedImage, quality: Int, metadata: EmbeddedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8] {
        guard options.colours == nil else {
            return try VipsEncoder.png(options)
                .encode(image, quality: quality, metadata: metadata, cancellation: cancellation)
        }
        try ImageFormat.png.check(image.size)
        let rows = PNGFilteredRows(image, options.filter)
        var file = PNGWriter(capacity: 1024 + rows.length + metadata.profile.count + metadata.exif.count)
        file.writeHeader(image.size, image.layout)
        file.write(metadata)
        try write(rows, to: &file, cancellation)
        file.writeChunk("IEND", [])
        return file.whole
    }

    private func write(_ rows: PNGFilteredRows, to file: inout PNGWriter, _ cancellation: WorkCancellation) throws {
        let height = rows.image.height
        let stripHeight = min(height, max(1, DeflateStream.pieceLength(level: options.compression) / rows.rowLength))
        let strip = UnsafeMutablePointer<UInt8>.allocate(capacity: stripHeight * rows.rowLength)
        defer { strip.deallocate() }
        let stream = try DeflateStream(level: options.compression)
        for top in stride(from: 0, to: height, by: stripHeight) {
            let bottom = min(height, top + stripHeight)
            try rows.write(top..<bottom, to: strip, cancellation)
            let bytes = UnsafeBufferPointer(start: strip, count: (bottom - top) * rows.rowLength)
            try stream.deflate(bytes, isLast: bottom == height, cancellation) { file.writeChunk("IDAT", $0) }
        }
    }
}

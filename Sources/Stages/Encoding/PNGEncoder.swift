import CDeflate
import CPNG
import CVips
import Pipeline

/// Encodes PNG: rows filtered here, deflated in one go with libdeflate, which takes half of zlib's time.
///
/// libdeflate can't be stopped, so what would take it long is left to libvips, and so are palettes.
struct PNGEncoder: ImageEncoding {
    let options: EncodeOptions.PNG

    /// The most that is deflated in one go, in bytes, by what a level takes for a megabyte.
    private var longestDeflation: Int { options.compression > 7 ? 1 << 20 : 4 << 20 }

    func encode(
        _ image: DecodedImage, quality: Int, metadata: EmbeddedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let length = (image.width * image.layout.channels + 1) * image.height
        guard options.colours == nil, length <= longestDeflation else {
            return try VipsEncoder.png(options)
                .encode(image, quality: quality, metadata: metadata, cancellation: cancellation)
        }
        try ImageFormat.png.check(image.size)
        let filtered = try self.filtered(image, length: length, cancellation)
        guard let deflated = Deflation.zlibStream(of: filtered, level: options.compression) else {
            throw LoadError(.unencodable, subject: "", "The picture can't be written as image/png: out of memory.")
        }
        try cancellation.check()
        var file = PNGWriter(capacity: deflated.count + 1024 + metadata.profile.count + metadata.exif.count)
        file.writeHeader(image.size, image.layout)
        file.write(metadata)
        file.writeChunk("IDAT", deflated)
        file.writeChunk("IEND", [])
        return file.bytes
    }

    /// Each row behind the number of its filter.
    private func filtered(_ image: DecodedImage, length: Int, _ cancellation: WorkCancellation) throws -> [UInt8] {
        let (pixel, rowLength) = (image.layout.channels, image.width * image.layout.channels)
        let nothing = [UInt8](repeating: 0, count: rowLength)
        return try [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            try image.pixels.withUnsafeBufferPointer { pixels in
                try nothing.withUnsafeBufferPointer { nothing in
                    guard let out = buffer.baseAddress, let rows = pixels.baseAddress, let zeros = nothing.baseAddress
                    else { return }
                    for y in 0..<image.height {
                        if y % 64 == 0 { try cancellation.check() }
                        let row = rows + y * rowLength
                        let above = y == 0 ? zeros : row - rowLength
                        let line = out + y * (rowLength + 1)
                        let filter =
                            options.filter == .adaptive
                            ? cpng_best_filter(row, above, line + 1, rowLength, pixel) : Int32(options.filter.rawValue)
                        line[0] = UInt8(filter)
                        cpng_filter(filter, row, above, line + 1, rowLength, pixel)
                    }
                }
            }
            count = length
        }
    }
}

import Stages

/// Decodes QOI: pixel by pixel, at the file's own size.
struct QOIDecoder: ImageDecoding {
    /// Rows that have arrived can be shown before the others.
    let showsBeginnings = true

    /// Reads the 14 bytes before the pixels.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        guard bytes.count >= QOIReader.headerLength, (3...4).contains(bytes[12]), bytes[13] <= 1 else {
            throw Self.damaged("its header makes no sense")
        }
        func number(at offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        var header = ImageHeader(
            format: .qoi, storedSize: PixelSize(width: number(at: 4), height: number(at: 8)), hasAlpha: bytes[12] == 4)
        header.colors = .rgb
        // All pixels are in memory, however small the result is. The numbers of a hostile file can overflow.
        let (count, overflows) = header.storedSize.width.multipliedReportingOverflow(by: 4 * header.storedSize.height)
        header.memory = overflows ? .max : count
        return header
    }

    /// Decodes all pixels. `Downscale` reduces the image to the requested size.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        guard header.memory < .max else { throw Self.damaged("it has more pixels than memory can hold") }
        let (size, channels) = (header.storedSize, header.hasAlpha ? 4 : 3)
        var reader = QOIReader(bytes)
        // Whether the colours are linear light rather than sRGB.
        let curve: [UInt8]? = bytes[13] == 1 ? Self.sRGB : nil
        let count = size.width * size.height * channels
        let pixels = try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            for row in 0..<size.height {
                try cancellation.check()
                for place in stride(
                    from: row * size.width * channels, to: (row + 1) * size.width * channels, by: channels)
                {
                    guard let pixel = reader.next() ?? (options.allowTruncated ? QOIPixel.clear : nil) else {
                        throw Self.damaged("it ends too soon")
                    }
                    buffer[place] = curve?[Int(pixel.red)] ?? pixel.red
                    buffer[place + 1] = curve?[Int(pixel.green)] ?? pixel.green
                    buffer[place + 2] = curve?[Int(pixel.blue)] ?? pixel.blue
                    if channels == 4 { buffer[place + 3] = pixel.alpha }
                }
            }
            initialized = count
        }
        return try DecodedImage(validating: pixels, size: size, layout: header.hasAlpha ? .rgba : .rgb)
    }

    private static func damaged(_ reason: String) -> LoadError {
        LoadError(.undecodable, subject: "", "The image/qoi file is damaged or cut off (\(reason)); get a new copy.")
    }
}

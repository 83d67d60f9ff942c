package import Pipeline

extension ImageDecoding {
    /// Decodes a file and checks the result against the file's header. Every decode goes through it, since decoders may be
    /// a program's own.
    /// - Throws: What the decoder throws; `LoadError` with `stageContract` for a picture that is smaller than both the box
    ///   and the size in the header, is larger than that size, or shows another region.
    package func picture(
        of bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let header = header.keeping(options)
        var image = try decode(bytes, header: header, box: box, options: options, cancellation: cancellation)
        // A damaged file may have been decoded to 8 bits in sRGB.
        if header.pixelColors != .sRGB, !header.pixelColors.needsDepth || image.layout.isDeep {
            image = image.labelled(header.pixelColors)
        }
        let most = header.largestSize(for: box)
        let least = header.size(for: box)
        guard image.region == header.region, image.width >= least.width, image.height >= least.height,
            image.width <= most.width, image.height <= most.height
        else { throw Self.breach(by: self, header, box, image, least) }
        return image
    }

    private static func breach(
        by decoder: Self, _ header: ImageHeader, _ box: PixelSize?, _ image: DecodedImage, _ least: PixelSize
    ) -> LoadError {
        let part = header.region.map { " of which \($0.size) at \($0.x),\($0.y) were asked for," } ?? ""
        return LoadError(
            .stageContract, subject: "",
            "The decoder \(type(of: decoder)) returned \(image.size) pixels of an \(header.format) file whose header says "
                + "\(header.size),\(part) for \(box.map { "a box of \($0)" } ?? "no box"). The result must have at least "
                + "\(least) and show the same region. Fix the decoder, or let it throw undecodable for such a file.")
    }
}

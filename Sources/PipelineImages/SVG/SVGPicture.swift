import Pipeline

/// A picture in a `data:` URL of an SVG.
struct SVGPicture {
    /// The picture's file.
    let bytes: [UInt8]
    let codec: ImageCodec
    /// The picture's header; `nil` for an SVG and for a damaged file.
    let header: ImageHeader?

    /// Reads a picture's header; `nil` if the URL holds no picture.
    init?(_ url: ArraySlice<UInt8>) {
        guard let bytes = try? DataURL(url.resolvingReferences).image.bytes,
            let codec = ImageCodecs.known.codec(of: bytes)
        else { return nil }
        self.bytes = bytes
        self.codec = codec
        header = codec.format == .svg ? nil : try? codec.decoder.header(of: bytes, cancellation: WorkCancellation())
    }

    /// The pixels that decoding it holds.
    var pixels: Int { header.map { max($0.storedSize.bytes(1), $0.codedSize.bytes(1)) } ?? 0 }

    /// The pixels of all pictures. Of equal ones, librsvg keeps one.
    static func pixels(of pictures: [SVGPicture]) -> Int {
        var seen: Set<[UInt8]> = []
        return pictures.reduce(0) { seen.insert($1.bytes).inserted ? $0.saturatingPlus($1.pixels) : $0 }
    }
}

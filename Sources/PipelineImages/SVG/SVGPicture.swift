import FoundationEssentials
import Pipeline

/// A picture in a `data:` URL of an SVG.
struct SVGPicture {
    /// Where the URL is in the text.
    let place: Range<Int>
    /// The picture's file.
    let bytes: [UInt8]
    /// The codec of its format; `nil` for an unknown one.
    let codec: ImageCodec?
    /// The picture's header; `nil` for an SVG, an unknown format and a damaged file.
    let header: ImageHeader?

    /// Reads a picture's header; `nil` if the URL holds no picture.
    init?(_ url: ArraySlice<UInt8>) {
        guard let image = try? DataURL(url.resolvingReferences).image else { return nil }
        (place, bytes) = (url.startIndex..<url.endIndex, image.bytes)
        let codec = ImageCodecs.known.codec(of: bytes)
        guard codec != nil || image.declaredType?.hasPrefix("image/") == true else { return nil }
        self.codec = codec
        header =
            codec?.format == .svg ? nil : try? codec?.decoder.header(of: bytes, cancellation: WorkCancellation())
    }

    /// The pixels that decoding it holds.
    var pixels: Int { header.map { max($0.storedSize.bytes(1), $0.codedSize.bytes(1)) } ?? 0 }

    /// Whether librsvg draws it. It reads other formats with libraries that a confined process can't open.
    var isReadable: Bool { codec?.format == .png || codec?.format == .jpeg }

    /// Whether it isn't drawn.
    var isMissing: Bool { !isReadable && header == nil }

    /// The picture, or the first one of an animation, as a `data:` URL of a PNG; `nil` if it can't be read.
    func png(_ cancellation: WorkCancellation) throws -> [UInt8]? {
        guard let decoder = codec?.decoder, let header else { return nil }
        do {
            let image = try decoder.picture(
                of: bytes, header: header, box: nil, options: DecodeOptions(), cancellation: cancellation)
            let file = try PNGEncoder().encode(
                image, quality: 100, options: EncodeOptions.PNG(compression: 1), metadata: EmbeddedMetadata(),
                cancellation: cancellation)
            return Array("data:image/png;base64,\(Data(file).base64EncodedString())".utf8)
        } catch is LoadError {
            return nil
        }
    }

    /// The pixels of all pictures. Of equal ones, librsvg keeps one.
    static func pixels(of pictures: [SVGPicture]) -> Int {
        var seen: Set<[UInt8]> = []
        return pictures.reduce(0) { seen.insert($1.bytes).inserted ? $0.saturatingPlus($1.pixels) : $0 }
    }
}

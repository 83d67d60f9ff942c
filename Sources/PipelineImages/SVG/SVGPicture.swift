#if SVG
import Essentials
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
    /// The type that the URL names.
    private let declaredType: String?
    /// An SVG's content.
    private var drawing: (file: SVGFile, size: PixelSize)?

    /// Reads a picture's header; `nil` if the URL holds no picture.
    init?(_ url: ArraySlice<UInt8>) {
        guard let image = try? DataURL(url.resolvingReferences).image else { return nil }
        (place, bytes) = (url.startIndex..<url.endIndex, image.bytes)
        let codec = ImageCodecs.known.codec(of: bytes)
        guard codec != nil || image.declaredType?.hasPrefix("image/") == true else { return nil }
        (self.codec, declaredType) = (codec, image.declaredType)
        header =
            codec?.format == .svg ? nil : try? codec?.decoder.header(of: bytes, cancellation: WorkCancellation())
    }

    /// Takes what is known of an SVG, whose file is within the bounds.
    mutating func measure(_ file: SVGFile) {
        drawing = (try? SVGDrawing(file.measurable).size).map { (file, $0) }
    }

    /// The pixels that decoding it holds.
    var pixels: Int {
        if let drawing { return drawing.size.bytes(1) }
        return header.map { max($0.storedSize.bytes(1), $0.codedSize.bytes(1)) } ?? 0
    }

    /// Whether librsvg draws it. It reads other formats with libraries that a confined process can't open, and would ask
    /// one for the type that a URL doesn't name.
    var isReadable: Bool { isOfReadableFormat && declaredType == codec?.format.rawValue }

    private var isOfReadableFormat: Bool { codec?.format == .png || codec?.format == .jpeg }

    /// Whether it isn't drawn.
    var isMissing: Bool { !isOfReadableFormat && header == nil && drawing == nil }

    /// The picture as a `data:` URL that librsvg reads; `nil` if it can't be read.
    func readable(_ cancellation: WorkCancellation) throws -> [UInt8]? {
        guard let format = codec?.format, let file = try isOfReadableFormat ? bytes : png(cancellation) else {
            return nil
        }
        let type = isOfReadableFormat ? format : .png
        return Array("data:\(type.rawValue);base64,\(Data(file).base64EncodedString())".utf8)
    }

    /// The picture, the first one of an animation, or an SVG at its own size, as a PNG; `nil` if it can't be read.
    private func png(_ cancellation: WorkCancellation) throws -> [UInt8]? {
        do {
            let image: DecodedImage
            if let (file, size) = drawing {
                let pixels = try SVGDrawing(file.drawable(cancellation)).pixels(size)
                image = DecodedImage(size: size, layout: .rgba, pixels: pixels)
            } else {
                guard let decoder = codec?.decoder, let header else { return nil }
                image = try decoder.picture(
                    of: bytes, header: header, box: nil, options: DecodeOptions(), cancellation: cancellation)
            }
            return try PNGEncoder().encode(
                image, quality: 100, options: EncodeOptions.PNG(compression: 1), metadata: EmbeddedMetadata(),
                cancellation: cancellation)
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
#endif

import Pipeline
import PipelineImages

/// The description of a source: `info.json` of IIIF Image API 3.0, section 5.
struct IIIFInfo: Sendable {
    /// The address of the source, without a slash at its end.
    let id: String
    /// The source's size in pixels.
    let size: PixelSize
    /// The longest side of a result in pixels.
    let longestSide: Int
    /// The side of a tile in pixels.
    static let tile = 512

    /// The document.
    var json: String {
        """
        {"@context":"http://iiif.io/api/image/3/context.json","id":\(id.jsonText),"type":"ImageService3",\
        "protocol":"http://iiif.io/api/image","profile":"level2","width":\(size.width),"height":\(size.height),\
        "maxWidth":\(longestSide),"maxHeight":\(longestSide),\
        "sizes":[\(sizes)],"tiles":[{"width":\(Self.tile),"scaleFactors":[\(factors)]}],\
        "preferredFormats":["webp","jpg"],"extraFormats":["webp","gif","tif","avif"],\
        "extraQualities":["color","gray","bitonal"],\
        "extraFeatures":["canonicalLinkHeader","mirroring","profileLinkHeader","rotationArbitrary","sizeUpscaling"]}
        """
    }

    /// Halvings, until the picture fits into a tile.
    private var scales: [Int] {
        var scales = [1]
        while let last = scales.last, max(size.width, size.height) > last * Self.tile { scales.append(last * 2) }
        return scales
    }

    private var factors: String { scales.map(String.init).joined(separator: ",") }

    private var sizes: String {
        scales.reversed().map { scale in
            let (width, height) = ((size.width + scale - 1) / scale, (size.height + scale - 1) / scale)
            return "{\"width\":\(width),\"height\":\(height)}"
        }.joined(separator: ",")
    }
}

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
    /// Whether only what it lists is made: level 0.
    var isLevel0 = false
    /// The side of a tile in pixels.
    static let tile = 512

    /// The document.
    var json: String {
        """
        {"@context":"http://iiif.io/api/image/3/context.json","id":\(id.jsonText),"type":"ImageService3",\
        "protocol":"http://iiif.io/api/image","profile":"\(isLevel0 ? "level0" : "level2")","width":\(size.width),"height":\(size.height),\
        "maxWidth":\(longestSide),"maxHeight":\(longestSide),\
        "sizes":[\(sizes)],"tiles":[{"width":\(Self.tile),"scaleFactors":[\(factors)]}],\
        "preferredFormats":["webp","jpg"],\(extras)}
        """
    }

    private var extras: String {
        isLevel0
            ? #""extraFormats":["webp"],"extraFeatures":["canonicalLinkHeader","cors","profileLinkHeader","sizeByWh"]"#
            : #""extraFormats":["webp","gif","tif","avif"],"extraQualities":["color","gray","bitonal"],"#
                + #""extraFeatures":["canonicalLinkHeader","mirroring","profileLinkHeader","rotationArbitrary","#
                + #""sizeUpscaling"]"#
    }

    /// Whether a part in a size is one of the tiles or sizes.
    func lists(_ region: PixelRegion, _ result: PixelSize) -> Bool {
        scales.contains { scale in
            func scaled(_ size: PixelSize) -> PixelSize {
                PixelSize(width: (size.width + scale - 1) / scale, height: (size.height + scale - 1) / scale)
            }
            guard result == scaled(region.size) else { return false }
            let side = Self.tile * scale
            let isTile =
                region.x % side == 0 && region.y % side == 0
                && region.size.width == min(side, size.width - region.x)
                && region.size.height == min(side, size.height - region.y)
            return isTile || region.size == size
        }
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

import Pipeline
import PipelineImages

/// The canonical path of a picture: the one spelling among those that ask for the same pixels (IIIF Image API 3.0, section
/// 4.7).
struct IIIFCanonical: Sendable {
    /// Region, size, rotation, quality and format.
    let path: String

    /// Takes a path that was served, in its components from the identifier on, and the source's size as it was turned
    /// with the picture; `nil` for a turn by no multiple of 90°, after which the source's size isn't known.
    init?(_ parts: [Substring], turned: PixelSize) {
        let parts = parts.compactMap(\.percentDecoded)
        guard parts.count == 5 else { return nil }
        let isMirrored = parts[3].hasPrefix("!")
        let degrees = parts[3].dropFirst(isMirrored ? 1 : 0).plainDecimal ?? 0
        guard degrees.truncatingRemainder(dividingBy: 90) == 0 else { return nil }
        let isUpright = degrees.truncatingRemainder(dividingBy: 180) == 0
        let native = isUpright ? turned : PixelSize(width: turned.height, height: turned.width)
        guard let region = Self.region(parts[1], of: native), let size = Self.size(parts[2], of: region.size) else {
            return nil
        }
        let turn = Int(degrees) % 360
        let area = region.size == native ? "full" : "\(region.x),\(region.y),\(region.size.width),\(region.size.height)"
        let isLarger = size.width > region.size.width || size.height > region.size.height
        let scaled = size == region.size ? "max" : "\(isLarger ? "^" : "")\(size.width),\(size.height)"
        let file = parts[4].hasPrefix("color.") ? "default" + parts[4].dropFirst(5) : parts[4]
        path = "\(area)/\(scaled)/\(isMirrored ? "!" : "")\(turn)/\(file)"
    }

    static func region(_ text: String, of native: PixelSize) -> PixelRegion? {
        switch text {
        case "full": return PixelRegion(x: 0, y: 0, size: native)
        case "square":
            let side = min(native.width, native.height)
            return PixelRegion(
                x: (native.width - side) / 2, y: (native.height - side) / 2, size: PixelSize(square: side))
        default:
            let isPart = text.hasPrefix("pct:")
            let numbers = text.dropFirst(isPart ? 4 : 0).split(separator: ",").compactMap(\.plainDecimal)
            guard numbers.count == 4 else { return nil }
            func pixels(_ index: Int, _ side: Int) -> Int {
                Int((isPart ? numbers[index] / 100 * Double(side) : numbers[index]).rounded())
            }
            let (x, y) = (pixels(0, native.width), pixels(1, native.height))
            let width = min(max(1, pixels(2, native.width)), native.width - x)
            let height = min(max(1, pixels(3, native.height)), native.height - y)
            return PixelRegion(x: x, y: y, size: PixelSize(width: width, height: height))
        }
    }

    static func size(_ text: String, of region: PixelSize) -> PixelSize? {
        let enlarges = text.hasPrefix("^")
        let rest = text.dropFirst(enlarges ? 1 : 0)
        if rest == "max" { return region }
        func scaled(_ scale: Double) -> PixelSize {
            PixelSize(
                width: max(1, Int((Double(region.width) * scale).rounded())),
                height: max(1, Int((Double(region.height) * scale).rounded())))
        }
        if rest.hasPrefix("pct:") { return rest.dropFirst(4).plainDecimal.map { scaled($0 / 100) } }
        let sides = rest.dropFirst(rest.hasPrefix("!") ? 1 : 0).split(separator: ",", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let (width, height) = (sides[0].plainNumber, sides[1].plainNumber)
        if let width, let height, !rest.hasPrefix("!") { return PixelSize(width: width, height: height) }
        let scales = [
            width.map { Double($0) / Double(region.width) }, height.map { Double($0) / Double(region.height) },
        ].compactMap(\.self)
        return scales.min().map { scaled(enlarges ? $0 : min(1, $0)) }
    }
}

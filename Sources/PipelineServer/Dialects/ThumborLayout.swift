import Pipeline
import PipelineImages

/// The sizes of a picture on its way through thumbor's order of work: cut to the aspect ratio, then scaled.
struct ThumborLayout: Equatable {
    /// The part of the source that is scaled.
    let kept: PixelRegion
    /// The size of the result before filters.
    let scaled: PixelSize
    /// The sides of the canvas that `fill` and `upscale` fill; 0 for one that the path doesn't name.
    let box: PixelSize
    /// Whether ``kept`` has only a size, and the picture's content decides where it lies.
    let isPlacedByInterest: Bool

    /// Calculates the sizes, with thumbor's rounding.
    /// - Parameters:
    ///   - sizing: The options.
    ///   - source: The picture's size in pixels, trimmed and cropped.
    ///   - native: The picture's size before that.
    init(_ sizing: ThumborSizing, of source: PixelSize, in native: PixelSize) {
        var box = PixelSize(
            width: Self.side(sizing.width, source.width, sizing.isLimited ? native.width : nil),
            height: Self.side(sizing.height, source.height, sizing.isLimited ? native.height : nil))
        var target = box
        if box.width == 0, box.height == 0 {
            target = source
        } else if box.width == 0 {
            target.width = Self.even(Double(box.height) * Double(source.width) / Double(source.height))
        } else if box.height == 0 {
            target.height = Self.even(Double(box.width) * Double(source.height) / Double(source.width))
        }
        var kept = PixelRegion(x: 0, y: 0, size: source)
        var scaled = target
        switch sizing.kind {
        case .stretch: break
        case .fill: kept = Self.cut(to: target, sizing, source, native)
        case .fitIn(let isFull, let isAdaptive):
            let isPortrait = source.width < source.height && target.width > target.height
            if isAdaptive, isPortrait || source.width > source.height && target.width < target.height {
                target = PixelSize(width: target.height, height: target.width)
                box = PixelSize(width: box.height, height: box.width)
            }
            if !isFull, target.width >= source.width, target.height >= source.height {
                scaled = source
            } else {
                scaled = Self.fitted(source, target, isFull: isFull)
                box = PixelSize(width: max(box.width, scaled.width), height: max(box.height, scaled.height))
            }
        }
        isPlacedByInterest = sizing.isSmart && kept.size != source
        self.kept = kept
        self.scaled = Self.limited(scaled, sizing.longestSide)
        self.box = PixelSize(
            width: min(box.width, sizing.longestSide), height: min(box.height, sizing.longestSide))
    }

    private static func side(_ side: ThumborSizing.Side, _ source: Int, _ limit: Int?) -> Int {
        switch side {
        case .original: source
        case .pixels(let length): min(length, limit ?? length)
        }
    }

    /// Python's rounding: halves go to the even number.
    private static func even(_ value: Double) -> Int { Int(min(1e9, value.rounded(.toNearestOrEven))) }

    /// The size that fits within a size, or around it.
    private static func fitted(_ source: PixelSize, _ target: PixelSize, isFull: Bool) -> PixelSize {
        let (width, height) = (Double(source.width), Double(source.height))
        let (across, down) = (width / Double(max(1, target.width)), height / Double(max(1, target.height)))
        // thumbor adds the fraction so that halves are rounded up.
        if isFull ? across <= down : across >= down {
            return PixelSize(width: target.width, height: even(height * Double(target.width) / width + 1e-5))
        }
        return PixelSize(width: even(width * Double(target.height) / height + 1e-5), height: target.height)
    }

    /// Scales a size down to the limit of a side. Each side has at least a pixel.
    private static func limited(_ size: PixelSize, _ longestSide: Int) -> PixelSize {
        let factor = min(1, Double(longestSide) / Double(max(1, size.width, size.height)))
        return PixelSize(
            width: max(1, Int((Double(size.width) * factor).rounded())),
            height: max(1, Int((Double(size.height) * factor).rounded())))
    }

    /// The part with the aspect ratio of the target. Ratios that agree in two decimals are equal.
    private static func cut(
        to target: PixelSize, _ sizing: ThumborSizing, _ source: PixelSize, _ native: PixelSize
    ) -> PixelRegion {
        let whole = PixelRegion(x: 0, y: 0, size: source)
        let (width, height) = (Double(max(1, target.width)), Double(max(1, target.height)))
        let (sourceWidth, sourceHeight) = (Double(source.width), Double(source.height))
        guard hundredths(sourceWidth / sourceHeight) != hundredths(width / height) else { return whole }
        var size = source
        if Double(target.width) / sourceWidth > Double(target.height) / sourceHeight {
            size.height = max(1, even(sourceWidth * Double(target.height) / width))
        } else {
            size.width = max(1, Int((Double(target.width) * sourceHeight / height).rounded(.up)))
        }
        let (x, y) = center(sizing, source, native)
        func start(_ center: Double, _ length: Int, _ whole: Int) -> Int {
            even(min(max(center - Double(length) / 2, 0), Double(whole - length)))
        }
        return PixelRegion(
            x: start(x, size.width, source.width), y: start(y, size.height, source.height), size: size)
    }

    /// The point around which the picture is cut: the middle of the focal areas, weighted by their sizes.
    private static func center(
        _ sizing: ThumborSizing, _ source: PixelSize, _ native: PixelSize
    ) -> (x: Double, y: Double) {
        let crop = sizing.trim == nil && sizing.hasCrop ? sizing.crop.region(in: native) : nil
        var (x, y, weights) = (0, 0, 0)
        for area in sizing.focus {
            let (width, height) = (area.right - area.left, area.bottom - area.top)
            var point = (x: area.left + width / 2, y: area.top + height / 2)
            if let crop {
                guard crop.x...crop.x + crop.size.width ~= point.x, crop.y...crop.y + crop.size.height ~= point.y else {
                    continue
                }
                point = (point.x - crop.x, point.y - crop.y)
            }
            let weight = width * height
            x += point.x * weight
            y += point.y * weight
            weights += weight
        }
        if weights > 0 { return (Double(x / weights), Double(y / weights)) }
        return (
            (Double(source.width) * sizing.across.rawValue).rounded(.down),
            (Double(source.height) * sizing.down.rawValue).rounded(.down)
        )
    }

    /// A number in hundredths as Python rounds it: by the exact value of the binary fraction.
    static func hundredths(_ value: Double) -> Double {
        let product = value * 100
        // What the multiplication lost.
        let rest = (-product).addingProduct(value, 100)
        let isHalf = product - product.rounded(.down) == 0.5
        return isHalf && rest != 0 ? product.rounded(rest > 0 ? .up : .down) : product.rounded(.toNearestOrEven)
    }
}

import Pipeline
import PipelineImages

/// The sizes of a picture on its way through imgproxy's order of work: cropped, scaled, cut, extended.
struct ImgproxyLayout: Equatable {
    /// After scaling, before anything is cut off.
    let scaled: PixelSize
    /// What is kept of it; 0 for a side that isn't cut.
    let kept: PixelSize
    /// The smallest canvas that `extend` leaves; 0 for a side that it doesn't change.
    let extended: PixelSize
    /// The canvas of `extend_aspect_ratio`; 0 if the picture has that aspect ratio.
    let extendedToAspect: PixelSize
    /// The pixel ratio that the result has. It is lower than the requested one where that would enlarge the picture.
    let pixelRatio: Double

    /// Calculates the sizes.
    /// - Parameters:
    ///   - sizing: The options.
    ///   - source: The picture's size in pixels, turned and cropped.
    init(_ sizing: ImgproxySizing, of source: PixelSize) {
        var scale = Scale(sizing, of: source)
        var layout = Self(sizing, source, scale)
        let side = layout.longestSide(sizing)
        if side > sizing.longestSide {
            let factor = Double(sizing.longestSide) / Double(side)
            scale.width = max(scale.width * factor, 1 / Double(source.width))
            scale.height = max(scale.height * factor, 1 / Double(source.height))
            scale.pixelRatio *= factor
            layout = Self(sizing, source, scale)
        }
        self = layout
    }

    private init(_ sizing: ImgproxySizing, _ source: PixelSize, _ scale: Scale) {
        let target = PixelSize(
            width: Self.scaled(sizing.width, scale.pixelRatio * sizing.zoom.x),
            height: Self.scaled(sizing.height, scale.pixelRatio * sizing.zoom.y))
        scaled = PixelSize(
            width: Self.scaled(source.width, scale.width), height: Self.scaled(source.height, scale.height))
        kept = sizing.kind == .fillDown && !sizing.enlarges ? target.reduced(into: scaled) : target
        extended = target
        let shown = Self.visible(kept, of: scaled)
        extendedToAspect = sizing.extendAspect.isOn ? Self.smallest(target, around: shown) : 0
        pixelRatio = scale.pixelRatio
    }

    /// The area around `size` with the aspect ratio of `target`; empty if `size` has it.
    private static func smallest(_ target: PixelSize, around size: PixelSize) -> PixelSize {
        guard target.width > 0, target.height > 0 else { return 0 }
        let across = Double(target.width) / Double(size.width)
        let down = Double(target.height) / Double(size.height)
        if down > across {
            return PixelSize(
                width: size.width, height: scaled(size.width, Double(target.height) / Double(target.width)))
        }
        if across > down {
            return PixelSize(
                width: scaled(size.height, Double(target.width) / Double(target.height)), height: size.height)
        }
        return 0
    }

    /// What a cut to `kept` leaves of a picture.
    static func visible(_ kept: PixelSize, of size: PixelSize) -> PixelSize {
        PixelSize(
            width: kept.width == 0 ? size.width : min(kept.width, size.width),
            height: kept.height == 0 ? size.height : min(kept.height, size.height))
    }

    /// The padding in pixels of the result.
    func padding(_ sizing: ImgproxySizing) -> ImgproxySizing.Padding {
        func pixels(_ length: Int) -> Int { Int((Double(length) * pixelRatio).rounded(.toNearestOrEven)) }
        let padding = sizing.padding
        return .init(
            top: pixels(padding.top), right: pixels(padding.right), bottom: pixels(padding.bottom),
            left: pixels(padding.left))
    }

    /// The canvas of a picture that has been cut, before its padding.
    func canvas(_ sizing: ImgproxySizing, of size: PixelSize) -> PixelSize {
        let canvas = sizing.extend.isOn ? extended : sizing.extendAspect.isOn ? extendedToAspect : 0
        return PixelSize(width: max(canvas.width, size.width), height: max(canvas.height, size.height))
    }

    private func longestSide(_ sizing: ImgproxySizing) -> Int {
        let canvas = canvas(sizing, of: Self.visible(kept, of: scaled))
        let padding = padding(sizing)
        return max(
            canvas.width + padding.left + padding.right, canvas.height + padding.top + padding.bottom)
    }

    /// 0 stands for "not given", and stays 0.
    private static func scaled(_ length: Int, _ scale: Double) -> Int {
        // A size beyond any picture is refused when it is made.
        Int(min(1e9, (Double(length) * scale).rounded()))
    }
}

/// How much a picture is scaled by the options.
private struct Scale {
    var width, height: Double
    var pixelRatio: Double

    init(_ sizing: ImgproxySizing, of source: PixelSize) {
        let (sourceWidth, sourceHeight) = (Double(source.width), Double(source.height))
        // How many pixels of the source become one.
        var across = sizing.width == 0 ? 1 : sourceWidth / Double(sizing.width)
        var down = sizing.height == 0 ? 1 : sourceHeight / Double(sizing.height)
        switch Self.kind(sizing, of: source) {
        case .force: break
        case _ where sizing.width == 0: across = down
        case _ where sizing.height == 0: down = across
        case .fit, .auto: (across, down) = (max(across, down), max(across, down))
        case .fill, .fillDown: (across, down) = (min(across, down), min(across, down))
        }
        across /= sizing.zoom.x
        down /= sizing.zoom.y
        pixelRatio = sizing.pixelRatio
        if !sizing.enlarges {
            let least = min(across, down)
            if least < 1 {
                across /= least
                down /= least
                // A ratio below 1 would make the picture smaller still than it was to be. Extended pictures keep their
                // composition.
                if !sizing.extend.isOn { pixelRatio /= least }
            }
            pixelRatio = min(pixelRatio, min(across, down))
        }
        if sizing.minWidth > 0, sourceWidth / Double(sizing.minWidth) < across {
            let most = sourceWidth / Double(sizing.minWidth)
            down /= across / most
            across = most
        }
        if sizing.minHeight > 0, sourceHeight / Double(sizing.minHeight) < down {
            let most = sourceHeight / Double(sizing.minHeight)
            across /= down / most
            down = most
        }
        width = 1 / min(across / pixelRatio, sourceWidth)
        height = 1 / min(down / pixelRatio, sourceHeight)
    }

    /// `auto` is `fill` where the source and the size are both landscape or both portrait.
    private static func kind(_ sizing: ImgproxySizing, of source: PixelSize) -> ImgproxySizing.Kind {
        guard sizing.kind == .auto else { return sizing.kind }
        let size = PixelSize(width: sizing.width, height: sizing.height)
        return Resize.Fit.auto.resolved(for: source, size) == .cover ? .fill : .fit
    }
}

import Pipeline
import PipelineImages

/// The options of a path that decide the result's size, as values.
struct ImgproxySizing {
    /// How a picture is fitted to the width and height.
    enum Kind: String, CaseIterable {
        case fit, fill, force, auto
        case fillDown = "fill-down"
    }

    /// A larger canvas, and where the picture lies on it.
    struct Canvas {
        var isOn = false
        var gravity = ImgproxyGravity()
    }

    /// In pixels of the result.
    struct Padding {
        var top = 0, right = 0, bottom = 0, left = 0
    }

    var kind = Kind.fit
    /// In pixels before ``pixelRatio``; 0 for the length that keeps the aspect ratio.
    var width = 0, height = 0
    /// In pixels; 0 for none.
    var minWidth = 0, minHeight = 0
    /// Factors for the width and the height.
    var zoom = (x: 1.0, y: 1.0)
    var pixelRatio = 1.0
    var enlarges = false
    var gravity = ImgproxyGravity()
    /// Pixels from 1 on, a part of the side below 1, and 0 for the whole side.
    var crop = (width: 0.0, height: 0.0)
    /// `nil` for ``gravity``.
    var cropGravity: ImgproxyGravity?
    /// Extends the picture to the width and height.
    var extend = Canvas()
    /// Extends the picture to the aspect ratio of the width and height.
    var extendAspect = Canvas()
    var padding = Padding()
    /// The maximum pixels of the result's longer side.
    var longestSide = 8192
}

extension ImgproxySizing {
    /// Whether a part is cut out before scaling.
    var hasCrop: Bool { crop != (0, 0) }

    /// Whether the picture may end on a larger canvas.
    var hasCanvas: Bool {
        extend.isOn || extendAspect.isOn || padding.top + padding.right + padding.bottom + padding.left > 0
    }
}

extension ImgproxySizing: CustomStringConvertible {
    /// The options that differ from their defaults, in a fixed order.
    var description: String {
        var words = ["\(kind.rawValue) \(width)×\(height)"]
        func add(_ name: String, _ value: String, if isGiven: Bool) {
            if isGiven { words.append("\(name) \(value)") }
        }
        add("min", "\(minWidth)×\(minHeight)", if: minWidth > 0 || minHeight > 0)
        add("zoom", "\(zoom.x)×\(zoom.y)", if: zoom != (1, 1))
        add("dpr", "\(pixelRatio)", if: pixelRatio != 1)
        if enlarges { words.append("enlarges") }
        add("gravity", "\(gravity)", if: gravity != ImgproxyGravity())
        add("of", ImgproxyCrop(self).parameters, if: hasCrop)
        add("extend", "\(extend.gravity)", if: extend.isOn)
        add("extend aspect", "\(extendAspect.gravity)", if: extendAspect.isOn)
        add("padding", "\(padding.top) \(padding.right) \(padding.bottom) \(padding.left)", if: hasCanvas)
        words.append("to \(longestSide)")
        return words.joined(separator: ", ")
    }
}

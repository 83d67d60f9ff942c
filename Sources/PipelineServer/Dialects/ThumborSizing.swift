import Pipeline

/// The parts of a path that decide the result's size, as values.
struct ThumborSizing {
    /// A side of the result.
    enum Side: Equatable {
        /// 0 for the length that keeps the aspect ratio.
        case pixels(Int)
        /// The source's own.
        case original
    }

    /// How the picture is fitted to the sides.
    enum Kind: Equatable {
        /// Fills them; what juts out is cut off.
        case fill
        /// Takes the sides whatever the aspect ratio is.
        case stretch
        /// Fits within them, without enlarging. `isFull` fits around them. `isAdaptive` exchanges the sides where one
        /// is for portraits and the other is for landscapes.
        case fitIn(isFull: Bool, isAdaptive: Bool)
    }

    /// The parts of a free side that lie before what is kept.
    enum Alignment: Double {
        case start = 0
        case middle = 0.5
        case end = 1
    }

    /// A rectangle by its edges, in pixels of the source.
    struct Edges: Equatable {
        var left = 0, top = 0, right = 0, bottom = 0
    }

    /// The colour that is trimmed off, by the corner that has it.
    struct Trim: Equatable {
        var isTopLeft = true
        /// The largest distance of a colour.
        var tolerance = 0
    }

    var kind = Kind.fill
    var width = Side.pixels(0), height = Side.pixels(0)
    /// Whether sides are limited to those of the source.
    var isLimited = false
    var across = Alignment.middle, down = Alignment.middle
    /// Whether the most interesting part is kept.
    var isSmart = false
    /// Parts of the source that matter.
    var focus: [Edges] = []
    var flips = (horizontal: false, vertical: false)
    var trim: Trim?
    /// The part that is cut out before scaling; empty for all.
    var crop = Edges()
    /// The maximum pixels of the result's longer side.
    var longestSide = 8192
}

extension ThumborSizing {
    /// Whether a part is cut out before scaling.
    var hasCrop: Bool { crop != Edges() }

    /// Removes what makes no difference, so that equal work has equal values.
    mutating func simplify() {
        if width == .pixels(0), height == .pixels(0) { (kind, isLimited) = (.fill, false) }
        // Nothing is cut off. With one side something may be, since the other one is rounded.
        if kind != .fill || width == .pixels(0) && height == .pixels(0) {
            (isSmart, focus) = (false, [])
            (across, down) = (.middle, .middle)
        }
        if !focus.isEmpty { isSmart = false }
        focus.sort { "\($0)" < "\($1)" }
    }
}

extension ThumborSizing.Edges {
    /// The rectangle within a picture of a size; `nil` if none of it is.
    func region(in whole: PixelSize) -> PixelRegion? {
        let (left, right) = (min(max(0, left), whole.width), min(max(0, right), whole.width))
        let (top, bottom) = (min(max(0, top), whole.height), min(max(0, bottom), whole.height))
        guard left < right, top < bottom else { return nil }
        return PixelRegion(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }
}

extension ThumborSizing.Edges: CustomStringConvertible {
    var description: String { "\(left)x\(top):\(right)x\(bottom)" }
}

extension ThumborSizing.Side: CustomStringConvertible {
    var description: String {
        switch self {
        case .pixels(let length): "\(length)"
        case .original: "orig"
        }
    }
}

extension ThumborSizing: CustomStringConvertible {
    /// What differs from the defaults, in a fixed order.
    var description: String {
        var words: [String] = []
        switch kind {
        case .fill: break
        case .stretch: words.append("stretch")
        case .fitIn(let isFull, let isAdaptive):
            words.append("\(isAdaptive ? "adaptive " : "")\(isFull ? "full " : "")fit-in")
        }
        words.append("\(width)×\(height)")
        if isLimited { words.append("limited") }
        if across != .middle { words.append(across == .start ? "left" : "right") }
        if down != .middle { words.append(down == .start ? "top" : "bottom") }
        if isSmart { words.append("smart") }
        if !focus.isEmpty { words.append("focus " + focus.map(\.description).joined(separator: " ")) }
        if hasCrop { words.append("of \(crop)") }
        if flips.horizontal { words.append("flipped") }
        if flips.vertical { words.append("flopped") }
        words.append("to \(longestSide)")
        return words.joined(separator: ", ")
    }
}

import ArgumentParser
import Pipeline
import Stages

/// A size in the syntax of ImageMagick and libvips: `400x300`, `400`, `x300` or `50%`, with marks for how to apply it.
///
/// `400x300` is the largest size that fits; `!` stretches to exactly that; `^` is the smallest size that covers it; `>`
/// only shrinks, `<` only enlarges. `400` is a width, `x300` a height; the other side follows. A percentage refers to
/// the image's own side.
struct Geometry: Sendable, Hashable, ExpressibleByArgument {
    private enum Fit { case inside, cover, exact }
    private enum Change: String { case both = "", shrink = ">", enlarge = "<" }

    private enum Side: Hashable {
        case pixels(Int)
        case percent(Double)

        init?(_ text: Substring) {
            if let pixels = Int(text), 1...1_000_000 ~= pixels {
                self = .pixels(pixels)
            } else if text.last == "%", let percent = Double(text.dropLast()), percent > 0, percent <= 10_000 {
                self = .percent(percent)
            } else {
                return nil
            }
        }

        /// The factor from an image's side to this one.
        func scale(of side: Int) -> Double {
            switch self {
            case .pixels(let pixels): Double(pixels) / Double(side)
            case .percent(let percent): percent / 100
            }
        }
    }

    private var width: Side?
    private var height: Side?
    private var fit = Fit.inside
    private var change = Change.both

    /// A width that images are only shrunk to.
    static func width(_ width: Int) -> Geometry { Geometry(width: .pixels(width), change: .shrink) }
}

extension Geometry {
    /// The largest size that fits a box, which images are only shrunk to.
    init(shrinkingInto box: PixelSize) {
        self.init(width: .pixels(box.width), height: .pixels(box.height), change: .shrink)
    }

    init?(argument: String) {
        self.init()
        var text = Substring(argument.lowercased())
        while let mark = text.last, "><!^".contains(mark) {
            switch mark {
            case ">" where change == .both: change = .shrink
            case "<" where change == .both: change = .enlarge
            case "!" where fit == .inside: fit = .exact
            case "^" where fit == .inside: fit = .cover
            default: return nil
            }
            text.removeLast()
        }
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard (1...2).contains(sides.count) else { return nil }
        let lengths = sides.map { Side($0) }
        // Each side is either left out or a valid length.
        guard zip(sides, lengths).allSatisfy({ $0.isEmpty || $1 != nil }) else { return nil }
        width = lengths[0]
        height = sides.count == 2 ? lengths[1] : nil
        guard width != nil || height != nil else { return nil }
        if fit != .inside, width == nil || height == nil { return nil }
    }

    /// The box, if both sides are given in pixels.
    var box: PixelSize? {
        guard case .pixels(let width)? = width, case .pixels(let height)? = height else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// The size of the result for an image of a size.
    func target(of size: PixelSize) -> PixelSize {
        let across = width?.scale(of: size.width)
        let down = height?.scale(of: size.height)
        let scale =
            switch (across, down) {
            case (let across?, let down?): fit == .cover ? max(across, down) : min(across, down)
            case (let one?, nil), (nil, let one?): one
            case (nil, nil): 1.0
            }
        switch change {
        case .shrink where scale >= 1, .enlarge where scale <= 1: return size
        default: break
        }
        func side(_ length: Int, _ scale: Double) -> Int {
            max(1, Int(min(1e9, (Double(length) * scale).rounded())))
        }
        let exact = fit == .exact
        return PixelSize(
            width: side(size.width, exact ? across ?? scale : scale),
            height: side(size.height, exact ? down ?? scale : scale))
    }
}

extension Geometry: CustomStringConvertible {
    var description: String {
        func text(_ side: Side) -> String {
            switch side {
            case .pixels(let pixels): "\(pixels)"
            case .percent(let percent): percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
            }
        }
        let marks = (fit == .exact ? "!" : fit == .cover ? "^" : "") + change.rawValue
        return (width.map(text) ?? "") + (height.map { "x" + text($0) } ?? "") + marks
    }
}

/// Scales the image up or down to the size that a geometry gives for its source.
struct FitGeometry: PixelTransform, PixelSizing, ColorKeeping {
    private let geometry: Geometry
    let keepsColors = true
    let keepsDepth = true
    let keepsHDR = true
    let keepsGainMap = true

    init(_ geometry: Geometry) { self.geometry = geometry }

    var signature: String? { "fitGeometry(lanczos3, \(geometry))" }
    var parameters: String { "\(geometry)" }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        try Resize(geometry.target(of: image.unreducedSize), fit: .fill, enlarges: true)
            .transformed(image, cancellation)
    }

    /// The smallest box with no side shorter than the result's.
    func neededBox(of source: PixelSize, later: PixelNeeds) -> PixelSize? {
        let target = geometry.target(of: source)
        let scale = max(
            Double(target.width) / Double(source.width), Double(target.height) / Double(source.height))
        return PixelSize(
            width: Int((Double(source.width) * scale).rounded(.up)),
            height: Int((Double(source.height) * scale).rounded(.up)))
    }
}

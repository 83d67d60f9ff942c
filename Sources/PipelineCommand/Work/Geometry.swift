import ArgumentParser
import Pipeline

/// A size as ImageMagick and libvips write it: `400x300`, `400`, `x300`, `50%`, and how strictly it is meant.
///
/// `400x300` is the largest that fits; `!` stretches to exactly that; `^` is the smallest that covers it; `>` only makes
/// smaller, `<` only larger. `400` is a width, `x300` a height; the other side follows. A percentage is a part of the
/// picture's own side.
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

        /// How many times longer it is than a picture's side.
        func scale(of side: Int) -> Double {
            switch self {
            case .pixels(let pixels): Double(pixels) / Double(side)
            case .percent(let percent): percent / 100
            }
        }
    }

    private let width: Side?
    private let height: Side?
    private var fit = Fit.inside
    private var change = Change.both

    /// A width, to which pictures are only made smaller.
    static func width(_ width: Int) -> Geometry { Geometry(width: .pixels(width), height: nil, change: .shrink) }

    /// The largest size that fits a box, to which pictures are only made smaller.
    init(shrinkingInto box: PixelSize) {
        self.init(width: .pixels(box.width), height: .pixels(box.height), change: .shrink)
    }

    private init(width: Side?, height: Side?, change: Change) {
        self.width = width
        self.height = height
        self.change = change
    }

    init?(argument: String) {
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
        // A side is left out, or it is a length that a picture can have.
        guard zip(sides, lengths).allSatisfy({ $0.isEmpty || $1 != nil }) else { return nil }
        width = lengths[0]
        height = sides.count == 2 ? lengths[1] : nil
        guard width != nil || height != nil else { return nil }
        if fit != .inside, width == nil || height == nil { return nil }
    }

    /// The box, where both sides are given in pixels.
    var box: PixelSize? {
        guard case .pixels(let width)? = width, case .pixels(let height)? = height else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// What becomes of a picture of a size.
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

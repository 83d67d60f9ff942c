import ArgumentParser
import Pipeline

/// A size as ImageMagick and libvips write it: `400x300`, `400`, `x300`, and how strictly it is meant.
///
/// `400x300` is the largest that fits; `!` stretches to exactly that; `^` is the smallest that covers it; `>` only makes
/// smaller, `<` only larger. `400` is a width, `x300` a height; the other side follows.
struct Geometry: Sendable, Hashable, ExpressibleByArgument {
    private enum Fit { case inside, cover, exact }
    private enum Change: String { case both = "", shrink = ">", enlarge = "<" }

    private let width: Int?
    private let height: Int?
    private var fit = Fit.inside
    private var change = Change.both

    /// A width, to which pictures are only made smaller.
    static func width(_ width: Int) -> Geometry { Geometry(width: width, height: nil, change: .shrink) }

    /// The largest size that fits a box, to which pictures are only made smaller.
    init(shrinkingInto box: PixelSize) { self.init(width: box.width, height: box.height, change: .shrink) }

    private init(width: Int?, height: Int?, change: Change) {
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
        let lengths = sides.map { Int($0) }
        // A side is left out, or it is a number that a picture can have.
        for (side, length) in zip(sides, lengths) where !side.isEmpty {
            guard let length, 1...1_000_000 ~= length else { return nil }
        }
        width = lengths[0]
        height = sides.count == 2 ? lengths[1] : nil
        guard width != nil || height != nil else { return nil }
        if fit != .inside, width == nil || height == nil { return nil }
    }

    /// The box, where both sides are given.
    var box: PixelSize? {
        if let width, let height { PixelSize(width: width, height: height) } else { nil }
    }

    /// What becomes of a picture of a size.
    func target(of size: PixelSize) -> PixelSize {
        let across = width.map { Double($0) / Double(size.width) }
        let down = height.map { Double($0) / Double(size.height) }
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
        if fit == .exact, let box { return box }
        func side(_ length: Int) -> Int { max(1, Int(min(1e9, (Double(length) * scale).rounded()))) }
        return PixelSize(width: side(size.width), height: side(size.height))
    }
}

extension Geometry: CustomStringConvertible {
    var description: String {
        let marks = (fit == .exact ? "!" : fit == .cover ? "^" : "") + change.rawValue
        return (width.map { "\($0)" } ?? "") + (height.map { "x\($0)" } ?? "") + marks
    }
}

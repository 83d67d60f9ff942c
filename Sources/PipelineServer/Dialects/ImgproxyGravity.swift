import Pipeline
import PipelineImages

/// Which part of a picture a cut keeps, or where a picture lies on a larger canvas.
struct ImgproxyGravity: Hashable {
    /// imgproxy's names: the middle, edges, corners, the most interesting part, and a point.
    enum Place: String, CaseIterable {
        case ce, no, so, ea, we, noea, nowe, soea, sowe, sm, fp
    }

    var place = Place.ce
    /// The distance from the place towards the middle: a part of the larger side below 1, otherwise pixels. For `fp`, the
    /// point itself, from 0 to 1.
    var x = 0.0, y = 0.0

    /// Reads a gravity from an argument and the two after it. Offsets that are missing or empty keep their value.
    mutating func read(
        _ arguments: ImgproxyArguments, from start: Int, allowsSmart: Bool = true
    ) throws(Problem) {
        guard let place = Place(rawValue: String(arguments[start])), allowsSmart || place != .sm else {
            let names = Place.allCases.filter { allowsSmart || $0 != .sm }.map(\.rawValue)
            throw arguments.wrong("A gravity is one of \(names.joined(separator: ", ")).")
        }
        let offsets = arguments.count - start - 1
        self.place = place
        switch place {
        case .sm:
            guard offsets == 0 else { throw arguments.wrong("The gravity sm has no offsets.") }
            (x, y) = (0, 0)
        case .fp:
            guard offsets == 2 else { throw arguments.wrong("Write fp:X:Y with numbers from 0 to 1.") }
            x = try arguments.decimal(at: start + 1, 0...1) ?? x
            y = try arguments.decimal(at: start + 2, 0...1) ?? y
        default:
            try arguments.check(atMost: start + 3)
            x = try arguments.decimal(at: start + 1, -1e6...1e6) ?? x
            y = try arguments.decimal(at: start + 2, -1e6...1e6) ?? y
        }
    }

    /// Returns the top left corner of a smaller area within a larger one.
    /// - Parameters:
    ///   - scale: The factor for offsets in pixels.
    ///   - overlaps: Whether the area may lie outside in part, all but one pixel.
    func origin(
        of inner: PixelSize, in outer: PixelSize, scale: Double = 1, overlaps: Bool = false
    ) -> (x: Int, y: Int) {
        let name = place.rawValue
        return (
            start(inner.width, outer.width, x, scale, overlaps, near: name.hasSuffix("we"), far: name.hasSuffix("ea")),
            start(
                inner.height, outer.height, y, scale, overlaps, near: name.hasPrefix("no"), far: name.hasPrefix("so"))
        )
    }

    private func start(
        _ inner: Int, _ outer: Int, _ offset: Double, _ scale: Double, _ overlaps: Bool, near: Bool, far: Bool
    ) -> Int {
        let start: Int
        if place == .fp {
            start = Self.whole(Double(outer) * offset) - inner / 2
        } else {
            let distance = Self.distance(offset, in: outer, scale: scale)
            let middle = Self.whole(Double(outer - inner + 1) / 2)
            start = near ? distance : far ? outer - inner - distance : middle + distance
        }
        return overlaps ? max(1 - inner, min(start, outer - 1)) : max(0, min(start, outer - inner))
    }

    /// An offset in pixels: below 1 it is a part of the length.
    static func distance(_ offset: Double, in length: Int, scale: Double) -> Int {
        whole(abs(offset) >= 1 ? offset * scale : Double(length) * offset)
    }

    private static func whole(_ number: Double) -> Int {
        Int(max(-1e9, min(1e9, number.rounded(.toNearestOrEven))))
    }
}

extension ImgproxyGravity: CustomStringConvertible {
    var description: String { x == 0 && y == 0 ? place.rawValue : "\(place.rawValue) \(x) \(y)" }
}

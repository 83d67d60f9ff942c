import HTTPTypes
import LibC
import Pipeline
import PipelineImages

/// The filters of a path, as values. Those that change pixels work in the order of the path, as thumbor's do; the order
/// of the others makes no difference.
struct ThumborFilters {
    private(set) var work: [ThumborFilter] = []
    private(set) var format: ImageFormat?
    private(set) var quality: Int?
    private(set) var maxBytes: Int?
    private(set) var gamut: Gamut?
    /// The most filters of a path.
    private static let mostFilters = 50
    /// Each is in memory besides the picture.
    private static let mostMarks = 4

    /// Reads filters. Some belong to the size.
    /// - Throws: 400 that names the filter if it is malformed or the server doesn't have it.
    init(_ filters: [ThumborArguments], of sizing: inout ThumborSizing) throws(Problem) {
        guard filters.count <= Self.mostFilters else {
            throw Problem(.badRequest, "A path has at most \(Self.mostFilters) filters.")
        }
        for filter in filters {
            switch filter.name {
            case "focal":
                try filter.check(1...1)
                guard let edges = try ThumborOptions.edges(filter[0]), edges.left < edges.right,
                    edges.top < edges.bottom
                else { throw filter.wrong("Write focal(LEFTxTOP:RIGHTxBOTTOM) in pixels of the source.") }
                sizing.focus.append(edges)
            case "no_upscale":
                try filter.check(0...0)
                sizing.isLimited = true
            case "stretch":
                try filter.check(0...0)
                if sizing.kind == .fill { sizing.kind = .stretch }
            // Metadata is removed anyway.
            case "strip_exif": try filter.check(0...0)
            case "strip_icc":
                try filter.check(0...0)
                gamut = .sRGB
            case "quality":
                try filter.check(1...1)
                quality = try filter.number(1...100)
            case "max_bytes":
                try filter.check(1...1)
                maxBytes = try filter.number(1...Int.max)
            case "format":
                try filter.check(1...1)
                format = try Self.format(filter)
            default: try readWork(filter)
            }
        }
    }

    /// Reads a filter that changes pixels. One that changes nothing is left out.
    private mutating func readWork(_ filter: ThumborArguments) throws(Problem) {
        switch filter.name {
        case "grayscale":
            try filter.check(0...0)
            add(ThumborColors(.grey))
        case "brightness":
            try filter.check(1...1)
            let percent = try filter.number(-1000...1000)
            if percent != 0 { add(ThumborColors(.sum(percent, percent, percent))) }
        case "rgb":
            try filter.check(3...3)
            let percents = try (0..<3).map { index throws(Problem) in try filter.number(at: index, -1000...1000) }
            if percents != [0, 0, 0] { add(ThumborColors(.sum(percents[0], percents[1], percents[2]))) }
        case "contrast":
            try filter.check(1...1)
            let percent = try filter.number(-1000...1000)
            if percent != 0 { add(ThumborColors(.contrast(percent))) }
        case "saturation":
            try filter.check(1...1)
            add(ThumborColors(.saturation(try filter.decimal(-100...100))))
        case "blur":
            try filter.check(1...2)
            let radius = try filter.number(1...10_000)
            let sigma = filter.count == 2 ? try filter.decimal(at: 1, 0...10_000) : 0
            add(Blur(sigma: Self.deviation(min(150, radius), sigma == 0 ? Double(radius) : sigma)))
        case "rotate":
            try filter.check(1...1)
            let degrees = try filter.number(-36_000...36_000)
            guard degrees % 90 == 0 else { throw filter.wrong("Write a multiple of 90, such as rotate(90).") }
            // thumbor turns counterclockwise.
            if degrees % 360 != 0 { work.append(.turn(Rotate(degrees: Double(-degrees)))) }
        case "round_corner":
            try filter.check(4...5)
            let radii = filter[0].split(separator: "|", omittingEmptySubsequences: false).map(\.plainNumber)
            guard radii.count <= 2, let across = radii.first ?? nil, let down = radii.last ?? nil,
                1...100_000 ~= across,
                1...100_000 ~= down
            else { throw filter.wrong("Write a radius of 1 to 100000, or two with | between them.") }
            let channels = try (1..<4).map { index throws(Problem) in
                UInt8(try filter.number(at: index, 0...255))
            }
            let color = Color(red: channels[0], green: channels[1], blue: channels[2])
            add(ThumborCorners(across: across, down: down, color: try filter.flag(at: 4) ? nil : color))
        case "background_color":
            try filter.check(1...1)
            let color = try Self.color(filter)
            guard color.alpha == 255 else { throw filter.wrong("Write an opaque colour.") }
            add(Flatten(color))
        case "fill":
            try filter.check(1...2)
            let (color, isBehind) = (try Self.color(filter), try filter.flag(at: 1))
            guard !isBehind || color.alpha == 255 || color.alpha == 0 else {
                throw filter.wrong("Write an opaque colour, or false.")
            }
            work.append(.fill(color, isBehind: isBehind && color.alpha == 255))
        case "proportion":
            try filter.check(1...1)
            let factor = try filter.decimal(0...1)
            guard factor > 0 else { throw filter.wrong("Write a number above 0, up to 1.") }
            if factor < 1 { work.append(.proportion(factor)) }
        case "upscale":
            try filter.check(0...0)
            work.append(.upscale)
        case "watermark":
            work.append(.mark(try ThumborMark(filter)))
            guard overlays.count <= Self.mostMarks else {
                throw Problem(.badRequest, "A path has at most \(Self.mostMarks) watermarks.")
            }
        default: throw filter.wrong("This server has no filter \(filter.name). Leave it out.")
        }
    }

    /// The sources of watermarks.
    var overlays: [String] {
        work.compactMap { if case .mark(let mark) = $0 { mark.source } else { nil } }
    }

    /// The work with the pictures of its watermarks.
    func work(with pictures: [DecodedImage]) -> [ThumborFilter] {
        var rest = pictures[...]
        return work.map { filter in
            guard case .mark(var mark) = filter else { return filter }
            mark.picture = rest.popFirst()
            return .mark(mark)
        }
    }

    private mutating func add(_ transform: any PixelTransform) { work.append(.pixels(transform)) }

    private static func format(_ filter: ThumborArguments) throws(Problem) -> ImageFormat {
        let name = filter[0].lowercased()
        guard ["png", "jpeg", "jpg", "gif", "webp", "avif"].contains(name) else {
            throw filter.wrong("Write png, jpeg, gif, webp or avif.")
        }
        return try PictureRequest.format(name)
    }

    /// Reads a colour by its digits, or one of the names of CSS 2.1.
    private static func color(_ filter: ThumborArguments) throws(Problem) -> Color {
        let names = [
            "aqua": "00ffff", "black": "000000", "blue": "0000ff", "fuchsia": "ff00ff", "gray": "808080",
            "green": "008000", "grey": "808080", "lime": "00ff00", "maroon": "800000", "navy": "000080",
            "olive": "808000", "orange": "ffa500", "purple": "800080", "red": "ff0000", "silver": "c0c0c0",
            "teal": "008080", "white": "ffffff", "yellow": "ffff00", "transparent": "00000000",
        ]
        let name = filter[0].lowercased()
        let digits = names[name] ?? name
        guard digits.allSatisfy({ $0.isASCII && $0.isHexDigit }), let color = Color(text: "#" + digits) else {
            throw filter.wrong("Write a colour as rrggbb, rgb or rrggbbaa without a #, or a name such as white.")
        }
        return color
    }

    /// The deviation of thumbor's kernel, which is a Gaussian cut off at the radius.
    private static func deviation(_ radius: Int, _ sigma: Double) -> Double {
        var (sum, squares) = (0.0, 0.0)
        for distance in -radius...radius {
            let square = Double(distance * distance)
            let weight = exp(-square / (2 * sigma * sigma))
            sum += weight
            squares += weight * square
        }
        return (squares / sum).squareRoot()
    }
}

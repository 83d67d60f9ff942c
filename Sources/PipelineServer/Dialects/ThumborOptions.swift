import HTTPTypes
import Pipeline
import PipelineImages

/// The parts of a path between the signature and the source, as values.
struct ThumborOptions {
    private var sizing = ThumborSizing()
    private var filters: ThumborFilters

    /// Takes the parts in thumbor's order.
    /// - Throws: 400 that names the part if it is malformed, or if the server would make another picture than thumbor.
    init(_ parts: inout ThumborPath, longestSide: Int) throws(Problem) {
        sizing.longestSide = longestSide
        if parts.take("debug") { throw Problem(.badRequest, "This server draws no focal points. Leave out debug.") }
        if parts.take("meta") {
            throw Problem(.badRequest, "This server has no meta. Write /info/ and the source for its size and format.")
        }
        sizing.trim = try parts.take(Self.trim)
        if let crop = try parts.take(Self.edges) { sizing.crop = crop }
        if let kind = try parts.take(Self.fit) { sizing.kind = kind }
        if let size = try parts.take({ text throws(Problem) in try Self.size(text, longestSide) }) {
            (sizing.width, sizing.height, sizing.flips) = size
        }
        sizing.across = parts.take("left") ? .start : parts.take("right") ? .end : .middle
        if sizing.across == .middle { _ = parts.take("center") }
        sizing.down = parts.take("top") ? .start : parts.take("bottom") ? .end : .middle
        if sizing.down == .middle { _ = parts.take("middle") }
        sizing.isSmart = parts.take("smart")
        filters = try ThumborFilters(try parts.filters(), of: &sizing)
        if sizing.trim != nil, sizing.hasCrop, !sizing.focus.isEmpty {
            throw Problem(
                .badRequest, "thumbor loses the place of focal in a path with trim and a crop. Leave out one of them.")
        }
        sizing.simplify()
    }

    /// Returns the request for a source.
    func request(for source: String) -> PictureRequest {
        var request = PictureRequest(source: source)
        if let trim = sizing.trim {
            request.stages.append(ThumborTrim(trim: trim, crop: sizing.crop))
        } else if sizing.hasCrop {
            request.stages.append(ThumborCrop(edges: sizing.crop))
        }
        if filters.overlays.isEmpty {
            request.stages.append(ThumborTransform(sizing: sizing, filters: filters.work))
        } else {
            request.stages.append(
                Overlaid(filters.overlays) { [sizing, filters] pictures in
                    ThumborTransform(sizing: sizing, filters: filters.work(with: pictures))
                })
        }
        (request.format, request.quality) = (filters.format, filters.quality)
        (request.maxBytes, request.gamut) = (filters.maxBytes, filters.gamut)
        return request
    }

    private static func trim(_ text: Substring) throws(Problem) -> ThumborSizing.Trim? {
        let words = text.split(separator: ":", omittingEmptySubsequences: false)
        guard words[0] == "trim" else { return nil }
        if words.count == 1 { return ThumborSizing.Trim() }
        // thumbor takes the number of trim:50 for the name of a corner.
        guard words.count <= 3, words[1] == "top-left" || words[1] == "bottom-right",
            let tolerance = words.count == 3 ? words[2].plainNumber : 0, tolerance <= 442
        else {
            throw Problem(
                .badRequest, "\(text) is malformed. Write trim:top-left:TOLERANCE or trim:bottom-right:TOLERANCE.")
        }
        return ThumborSizing.Trim(isTopLeft: words[1] == "top-left", tolerance: tolerance)
    }

    /// Reads `LEFTxTOP:RIGHTxBOTTOM`; `nil` for anything else.
    static func edges(_ text: Substring) throws(Problem) -> ThumborSizing.Edges? {
        let corners = text.split(separator: ":", omittingEmptySubsequences: false)
            .map { $0.split(separator: "x", omittingEmptySubsequences: false) }
        guard corners.count == 2, corners.allSatisfy({ $0.count == 2 }) else { return nil }
        let numbers = corners.flatMap(\.self).compactMap(\.plainNumber)
        guard numbers.count == 4, numbers.allSatisfy({ $0 <= 100_000 }) else {
            throw Problem(.badRequest, "\(text) is malformed. Write LEFTxTOP:RIGHTxBOTTOM in pixels of the source.")
        }
        return ThumborSizing.Edges(left: numbers[0], top: numbers[1], right: numbers[2], bottom: numbers[3])
    }

    private static func fit(_ text: Substring) throws(Problem) -> ThumborSizing.Kind? {
        switch text {
        case "fit-in": .fitIn(isFull: false, isAdaptive: false)
        case "full-fit-in": .fitIn(isFull: true, isAdaptive: false)
        case "adaptive-fit-in": .fitIn(isFull: false, isAdaptive: true)
        case "adaptive-full-fit-in": .fitIn(isFull: true, isAdaptive: true)
        default: nil
        }
    }

    private typealias Size = (ThumborSizing.Side, ThumborSizing.Side, (horizontal: Bool, vertical: Bool))

    /// Reads `300x200`, each side with a minus sign to mirror the picture, empty, or `orig`; `nil` for anything else.
    private static func size(_ text: Substring, _ longestSide: Int) throws(Problem) -> Size? {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let isMirrored = sides.map { $0.hasPrefix("-") }
        let lengths = zip(sides, isMirrored).map { $1 ? $0.dropFirst() : $0 }
        guard lengths.allSatisfy({ $0 == "orig" || $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }) else { return nil }
        func side(_ text: Substring) throws(Problem) -> ThumborSizing.Side {
            if text == "orig" { return .original }
            guard let length = text.isEmpty ? 0 : text.plainNumber, length <= longestSide else {
                throw Problem(.badRequest, "The side \(text) is above the limit of \(longestSide) pixels.")
            }
            return .pixels(length)
        }
        return (try side(lengths[0]), try side(lengths[1]), (isMirrored[0], isMirrored[1]))
    }
}

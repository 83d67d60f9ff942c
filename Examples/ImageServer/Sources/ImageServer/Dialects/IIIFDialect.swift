import Stages

/// IIIF Image API 3.0, level 2: `/iiif/IDENTIFIER/REGION/SIZE/ROTATION/QUALITY.FORMAT`, and `…/info.json`.
///
/// ```
/// /iiif/photo.jpg/full/400,/0/default.jpg
/// /iiif/photo.jpg/pct:25,25,50,50/!300,300/!90/gray.png
/// ```
///
/// Of the optional parts it has any rotation, mirroring and enlarging, and the formats WebP, GIF, TIFF and AVIF.
struct IIIFDialect: Sendable {
    /// What a path asks for.
    enum Request: Sendable {
        /// The picture itself.
        case picture(PictureRequest)
        /// The description of a source.
        case info(source: String)
        /// The source's base address, which redirects to its description.
        case base
    }

    /// The longest side that a client may ask for, in pixels.
    var longestSide = 8192

    /// Reads a path after `/iiif/`.
    /// - Throws: 400 with the part that is wrong; 404 for a path of another shape.
    func request(_ path: Substring) throws(Problem) -> Request {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let source = parts.first?.percentDecoded, !source.isEmpty else {
            throw Problem(.notFound, "The identifier is missing. Write /iiif/IDENTIFIER/info.json.")
        }
        if parts.count == 1 { return .base }
        if parts.count == 2, parts[1] == "info.json" { return .info(source: source) }
        guard parts.count == 5 else {
            throw Problem(
                .notFound, "Write /iiif/IDENTIFIER/REGION/SIZE/ROTATION/QUALITY.FORMAT, and %2F for a slash in it.")
        }
        var decoded: [String] = []
        for part in parts.dropFirst() {
            guard let text = part.percentDecoded else { throw Problem(.badRequest, "\(part) is not percent-encoded.") }
            decoded.append(text)
        }
        let file = decoded[3].split(separator: ".", omittingEmptySubsequences: false)
        guard file.count == 2 else { throw Problem(.badRequest, "Write the last part like default.jpg.") }
        var request = PictureRequest(source: source)
        request.stages = try Self.region(decoded[0]) + size(decoded[1]) + Self.rotation(decoded[2])
        request.stages += try Self.quality(file[0])
        request.format = try PictureRequest.format(file[1])
        return .picture(request)
    }

    /// Section 4.1.
    private static func region(_ text: String) throws(Problem) -> [any Stage] {
        if text == "full" { return [] }
        if text == "square" { return [Crop(aspect: 1)] }
        let isPart = text.hasPrefix("pct:")
        let numbers = (isPart ? text.dropFirst(4) : text[...]).split(separator: ",", omittingEmptySubsequences: false)
            .map { isPart ? $0.plainDecimal : $0.plainNumber.map(Double.init) }.compactMap(\.self)
        guard numbers.count == 4, text.count(where: { $0 == "," }) == 3, numbers[2] > 0, numbers[3] > 0,
            numbers.allSatisfy({ $0 < 1e9 })
        else {
            throw Problem(.badRequest, "The region \(text) is none of full, square, x,y,w,h and pct:x,y,w,h.")
        }
        let lengths = numbers.map { isPart ? Crop.Length.percent($0) : .pixels(Int($0)) }
        return [Crop(x: lengths[0], y: lengths[1], width: lengths[2], height: lengths[3])]
    }

    /// Section 4.2.
    private func size(_ text: String) throws(Problem) -> [any Stage] {
        let enlarges = text.hasPrefix("^")
        let rest = enlarges ? text.dropFirst() : text[...]
        // ^max isn't enlarged to the server's limit, which the validators don't expect, and which nobody needs.
        if rest == "max" { return [Resize(PixelSize(square: longestSide), fit: .inside)] }
        if rest.hasPrefix("pct:") {
            guard let percent = rest.dropFirst(4).plainDecimal, percent > 0, enlarges || percent <= 100 else {
                throw Problem(.badRequest, "The size \(text) is above 100 %, for which it has to begin with ^.")
            }
            return [ScaleByPercent(percent, longestSide: longestSide)]
        }
        let isConfined = rest.hasPrefix("!")
        let sides = (isConfined ? rest.dropFirst() : rest).split(separator: ",", omittingEmptySubsequences: false)
        let numbers = sides.map(\.plainNumber)
        guard sides.count == 2, zip(sides, numbers).allSatisfy({ $0.isEmpty || ($1 ?? 0) > 0 }),
            isConfined ? !numbers.contains(nil) : numbers.contains(where: { $0 != nil })
        else { throw Problem(.badRequest, "The size \(text) is none of max, w,  ,h  w,h  !w,h and pct:n.") }
        guard numbers.allSatisfy({ $0 ?? 1 <= longestSide }) else {
            throw Problem(.badRequest, "The size \(text) is above the limit of \(longestSide) pixels a side.")
        }
        let box = PixelSize(width: numbers[0] ?? longestSide, height: numbers[1] ?? longestSide)
        if isConfined {
            // The validators want an error here too, although section 4.2 can be read otherwise.
            return [
                Resize(box, fit: .inside, enlarges: enlarges),
                RequireSize(width: box.width, height: box.height, either: true),
            ]
        }
        let fit: Resize.Fit = numbers.contains(nil) ? .inside : .fill
        // What is larger than the region is an error, unless the size begins with ^.
        return [
            Resize(box, fit: fit, enlarges: enlarges), RequireSize(width: numbers[0], height: numbers[1]),
        ]
    }

    /// Section 4.3.
    private static func rotation(_ text: String) throws(Problem) -> [any Stage] {
        let isMirrored = text.hasPrefix("!")
        guard let degrees = text.dropFirst(isMirrored ? 1 : 0).plainDecimal, degrees <= 360 else {
            throw Problem(.badRequest, "The rotation \(text) is not 0 to 360, with or without a ! before it.")
        }
        let turn: [any Stage] = degrees == 0 || degrees == 360 ? [] : [Rotate(degrees: degrees)]
        return isMirrored ? [Flip(.horizontal)] + turn : turn
    }

    /// Section 4.4.
    private static func quality(_ text: Substring) throws(Problem) -> [any Stage] {
        switch text {
        case "default", "color": []
        case "gray": [Grayscale()]
        case "bitonal": [Bitonal()]
        default: throw Problem(.badRequest, "The quality \(text) is none of default, color, gray and bitonal.")
        }
    }
}

import HTTPTypes
import Pipeline
import PipelineImages

/// IIIF Image API 3.0, level 2: `/iiif/IDENTIFIER/REGION/SIZE/ROTATION/QUALITY.FORMAT`, and `…/info.json`.
///
/// ```
/// /iiif/photo.jpg/full/400,/0/default.jpg
/// /iiif/photo.jpg/pct:25,25,50,50/!300,300/!90/gray.png
/// ```
///
/// Of the optional parts it has any rotation, mirroring and enlarging, and the formats WebP, GIF, TIFF and AVIF.
///
/// Signed paths begin with `/iiif/SECONDS.SIGNATURE/IDENTIFIER/`. Signed is `SECONDS/IDENTIFIER`, since viewers make the
/// rest of the path themselves; `SECONDS` since 1970 is when the path stops being valid, 0 for never.
public struct IIIFDialect: Dialect {
    public let name = "iiif"
    public let reads: RequestParts = [.address, .linkedData]
    /// The longest side that a client may ask for, in pixels.
    private let longestSide: Int

    /// Whether only the tiles and sizes that `info.json` lists are made.
    private let givesListedOnly: Bool

    /// - Parameters:
    ///   - longestSide: The longest side that a client may ask for, in pixels.
    ///   - givesListedOnly: Whether only the tiles and sizes that `info.json` lists are made, upright, in colour, as JPEG or
    ///     WebP: level 0 of the standard, which is what viewers ask for. By default any picture is, and one signature then
    ///     covers every region, size and rotation of its source.
    public init(longestSide: Int = 8192, givesListedOnly: Bool = false) {
        (self.longestSide, self.givesListedOnly) = (longestSide, givesListedOnly)
    }

    public func signedText(of path: DialectPath) throws(Problem) -> SignedText {
        guard path.isSigned else { return SignedText("", signature: nil) }
        try path.refuseQuery()
        let (token, rest) = Self.token(path)
        let words = token.split(separator: ".", maxSplits: 1)
        let identifier = rest.prefix { $0 != "/" }
        guard words.count == 2, let expires = words[0].canonicalNumber, let source = identifier.percentDecoded else {
            throw Problem(.forbidden, "The signature is missing. Write /iiif/SECONDS.SIGNATURE/IDENTIFIER/…")
        }
        guard identifier == source.percentEncoded else {
            throw Problem(
                .badRequest,
                "Write each byte of a signed identifier but letters, digits and -._~ as %XX, in capital letters.")
        }
        return SignedText("\(expires)/\(source)", signature: words[1], expires: expires == 0 ? nil : expires)
    }

    /// The path to a source, `/iiif/…/IDENTIFIER`, as a viewer gets it.
    /// - Parameters:
    ///   - source: A URL, or a file's name in the server's folder.
    ///   - keys: The server's keys; `nil` for one that asks for no signatures.
    ///   - expires: When the path stops being valid, in seconds since 1970; 0 for never.
    public static func path(to source: String, signedWith keys: SigningKeys?, expires: Int = 0) -> String {
        let token = keys.map { "\(expires).\($0.signature(of: "\(expires)/\(source)"))/" } ?? ""
        return "/iiif/\(token)\(source.percentEncoded)"
    }

    /// Splits a path at the slash after its signature.
    private static func token(_ path: DialectPath) -> (token: Substring, rest: Substring) {
        guard path.isSigned else { return ("", path.rest) }
        let token = path.rest.prefix { $0 != "/" }
        return (token, path.rest.dropFirst(token.count + 1))
    }

    public func request(_ path: DialectPath) throws(Problem) -> DialectRequest {
        let (token, rest) = Self.token(path)
        let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
        let base = "\(path.address)/iiif/\(token.isEmpty ? "" : token + "/")\(parts.first ?? "")"
        guard let source = parts.first?.percentDecoded, !source.isEmpty else {
            throw Problem(.notFound, "The identifier is missing. Write /iiif/IDENTIFIER/info.json.")
        }
        if parts.count == 1 { return .redirect(to: base + "/info.json") }
        if parts.count == 2, parts[1] == "info.json" {
            let linked = "application/ld+json;profile=\"http://iiif.io/api/image/3/context.json\""
            return .description(
                SourceDescription(of: source, type: path.wantsLinkedData ? linked : "application/json") {
                    IIIFInfo(id: base, size: $0, longestSide: longestSide, isLevel0: givesListedOnly).json
                })
        }
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
        let format = try PictureRequest.format(file[1])
        request.format = format
        request.stages = try Self.region(decoded[0]) + size(decoded[1]) + Self.rotation(decoded[2], format)
        request.stages += try Self.quality(file[0])
        request.isTile = decoded[0].contains(",")
        if givesListedOnly {
            guard decoded[2] == "0", ["default", "color"].contains(file[0]), [.jpeg, .webp].contains(format) else {
                throw Problem(
                    .badRequest, "This server gives only what info.json lists: write /0/default.jpg or .webp.")
            }
            request.checks = [RequireListed(region: decoded[0], size: decoded[1])]
        }
        request.link = { native in
            let profile = "<http://iiif.io/api/image/3/level2.json>;rel=\"profile\""
            guard let canonical = IIIFCanonical(parts, turned: native) else { return profile }
            return profile + ", <\(base)/\(canonical.path)>;rel=\"canonical\""
        }
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

    /// Section 4.3. Corners are transparent, and in a format without transparency black, as the validators have them.
    private static func rotation(_ text: String, _ format: ImageFormat) throws(Problem) -> [any Stage] {
        let isMirrored = text.hasPrefix("!")
        guard let degrees = text.dropFirst(isMirrored ? 1 : 0).plainDecimal, degrees <= 360 else {
            throw Problem(.badRequest, "The rotation \(text) is not 0 to 360, with or without a ! before it.")
        }
        let corners = format == .jpeg ? Color.black : .clear
        let turn: [any Stage] =
            degrees == 0 || degrees == 360 ? [] : [Rotate(degrees: degrees, background: corners)]
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

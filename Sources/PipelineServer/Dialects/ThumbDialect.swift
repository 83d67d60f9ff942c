import HTTPTypes
import Pipeline
import PipelineImages

/// The server's own paths: `/thumb/OPTIONS/SOURCE`.
///
/// ```
/// /thumb/400x300/photo.jpg                      fits within 400×300
/// /thumb/400x300,cover,q=60/photo.jpg           fills 400×300, and what juts out is cut off
/// /thumb/auto/photo.jpg                         as wide as the client's Sec-CH-Width says
/// /thumb/small/https%3A%2F%2Fexample.com%2Fa.jpg    a preset
/// ```
///
/// A size in CSS pixels is multiplied by the client's pixel ratio, and `Save-Data` lowers the quality.
///
/// A signed path has the query `?expires=SECONDS&signature=…`, or only the latter. Signed is the path with
/// `?expires=SECONDS`, or the path alone; `SECONDS` since 1970 is when it stops being valid.
public struct ThumbDialect: Dialect {
    public let name = "thumb"
    public let reads: RequestParts = .clientHints
    private let presets: [String: String]
    private let longestSide: Int
    private let watermark: Watermark?

    /// - Parameters:
    ///   - presets: The options that names stand for, such as `200x200,cover`.
    ///   - longestSide: The longest side that a client may ask for, in pixels.
    ///   - watermark: What the option `watermark` lays over pictures; `nil`, the default, refuses it.
    /// - Throws: ``ServerConfigurationError`` with the preset whose options can't be read.
    public init(
        presets: [String: String] = [:], longestSide: Int = 8192, watermark: Watermark? = nil
    ) throws(ServerConfigurationError) {
        (self.presets, self.longestSide, self.watermark) = (presets, longestSide, watermark)
        for (name, options) in presets.sorted(by: { $0.key < $1.key }) {
            var reading = Reading(hints: ClientHints(), request: PictureRequest(source: ""), watermark: watermark)
            do {
                for word in options.split(separator: ",") { try reading.read(word, longestSide: longestSide) }
            } catch {
                throw ServerConfigurationError("The preset \(name) is malformed. \(error.detail)")
            }
        }
    }

    public func signedText(of path: DialectPath) throws(Problem) -> SignedText { try path.signedByQuery() }

    /// The path to a picture, with its query if it is signed.
    /// - Parameters:
    ///   - options: The options, such as `400x300,cover`.
    ///   - source: A URL, or a file's name in the server's folder.
    ///   - keys: The server's keys; `nil` for one that asks for no signatures.
    ///   - expires: When the path stops being valid, in seconds since 1970; `nil` for never.
    public static func path(
        _ options: String, to source: String, signedWith keys: SigningKeys?, expires: Int? = nil
    ) -> String {
        DialectPath.signed("/thumb/\(options)/\(source.percentEncoded)", with: keys, expires: expires)
    }

    public func request(_ path: DialectPath) throws(Problem) -> DialectRequest {
        .picture(try picture(path.rest, path.hints ?? ClientHints()))
    }

    /// Reads a path after `/thumb/`.
    /// - Throws: 400 with the option that is wrong.
    func picture(_ path: Substring, _ hints: ClientHints = ClientHints()) throws(Problem) -> PictureRequest {
        guard let slash = path.firstIndex(of: "/"), let source = path[path.index(after: slash)...].percentDecoded,
            let options = path[..<slash].percentDecoded, !source.isEmpty
        else { throw Problem(.badRequest, "Write /thumb/400x300/SOURCE.") }
        var reading = Reading(
            hints: hints, request: PictureRequest(source: source, hints: hints), watermark: watermark)
        let words = options.split(separator: ",", omittingEmptySubsequences: false)
        for word in words.flatMap({ presets[String($0)]?.split(separator: ",") ?? [$0] }) {
            try reading.read(word, longestSide: longestSide)
        }
        return try reading.finished()
    }
}

private struct Reading {
    let hints: ClientHints
    var request: PictureRequest
    let watermark: Watermark?
    var size: PixelSize?
    var fit = Resize.Fit.inside
    var gravity = Gravity.center
    var enlarges = false
    var isByAttention = false
    var later: [any Stage] = []
    /// Where the watermark lies; `nil` for a picture without it.
    var mark: Gravity?

    mutating func read(_ word: Substring, longestSide: Int) throws(Problem) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.first ?? ""
        guard parts.count == 2 else {
            switch name {
            case "enlarge": enlarges = true
            case "attention": isByAttention = true
            case "grey": later.append(Grayscale())
            case "mirror": later.append(Flip(.horizontal))
            case "watermark": try read(mark: .southEast)
            case "download": request.isAttachment = true
            default:
                // `auto` is the size that the client hints at.
                if name != "auto", let fit = Resize.Fit(rawValue: String(name)) {
                    self.fit = fit
                } else {
                    size = try Self.size(name, hints, longestSide)
                }
            }
            return
        }
        let value = parts[1]
        switch name {
        case "q": request.quality = try Self.number(value, name, 1...100)
        case "format": request.format = try PictureRequest.format(value)
        case "blur": later.append(Blur(sigma: try Self.decimal(value, name, 0...100)))
        case "sharpen": later.append(Sharpen(try Self.decimal(value, name, 0...10)))
        case "rotate": later.append(Rotate(degrees: try Self.decimal(value, name, 0...360)))
        case "gravity":
            gravity = try Self.gravity(value, name)
        case "watermark": try read(mark: Self.gravity(value, name))
        default:
            throw Problem(
                .badRequest, "There is no option \(name). Write q, format, blur, sharpen, rotate, gravity or watermark."
            )
        }
    }

    private mutating func read(mark gravity: Gravity) throws(Problem) {
        guard watermark != nil else { throw Problem(.badRequest, "This server has no watermark.") }
        mark = gravity
    }

    func finished() throws(Problem) -> PictureRequest {
        guard let size else { throw Problem(.badRequest, "The size is missing. Write /thumb/400x300/SOURCE.") }
        var request = request
        if isByAttention, fit == .cover {
            request.stages = [Resize(size, fit: .outside, enlarges: enlarges), Crop(size, by: .attention)]
        } else {
            request.stages = [Resize(size, fit: fit, enlarges: enlarges, gravity: gravity)]
        }
        request.stages += later
        if let watermark, let mark {
            request.stages.append(Composite(watermark.picture, gravity: mark, opacity: watermark.opacity))
        }
        if hints.savesData { request.quality = min(request.quality ?? 100, 50) }
        return request
    }

    /// Reads `400x300`, `400x`, `x300` or `auto`.
    private static func size(
        _ text: Substring, _ hints: ClientHints, _ longestSide: Int
    ) throws(Problem) -> PixelSize {
        if text == "auto" {
            return PixelSize(width: min(longestSide, max(1, hints.width ?? 640)), height: longestSide)
        }
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, sides.contains(where: { !$0.isEmpty }) else {
            throw Problem(.badRequest, "\(text) is neither a size such as 400x300, 400x or auto, nor an option.")
        }
        func side(_ text: Substring) throws(Problem) -> Int {
            if text.isEmpty { return longestSide }
            let side = try number(text, "a side", 1...longestSide)
            return min(longestSide, Int((Double(side) * hints.pixelRatio).rounded()))
        }
        return PixelSize(width: try side(sides[0]), height: try side(sides[1]))
    }

    private static func gravity(_ text: Substring, _ name: Substring) throws(Problem) -> Gravity {
        guard let gravity = Gravity(rawValue: String(text)) else {
            let names = Gravity.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(.badRequest, "\(name) is one of \(names).")
        }
        return gravity
    }

    private static func number(
        _ text: Substring, _ name: some StringProtocol, _ range: ClosedRange<Int>
    ) throws(Problem) -> Int {
        guard let number = text.plainNumber, range.contains(number) else {
            throw Problem(.badRequest, "\(name) is \(text); it has to be \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    private static func decimal(
        _ text: Substring, _ name: Substring, _ range: ClosedRange<Double>
    ) throws(Problem) -> Double {
        guard let number = text.plainDecimal, range.contains(number) else {
            throw Problem(.badRequest, "\(name) is \(text); it has to be \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}

import HTTPTypes
import Pipeline
import PipelineImages

/// The processing options of a path, as values. Reading makes no stages: the last of equal options counts, and an empty
/// argument keeps what an earlier option said.
struct ImgproxyOptions {
    private var sizing = ImgproxySizing()
    /// Clockwise, in degrees: a multiple of 90.
    private var rotation = 0
    private var flips = (horizontal: false, vertical: false)
    private var blur = 0.0
    private var sharpen = 0.0
    private var background: Color?
    private var quality = 0
    private var formatQualities: [ImageFormat: Int] = [:]
    private var maxBytes = 0
    private var format: ImageFormat?
    private var expires = 0
    private var fileName = ""
    private var isAttachment = false
    private var skippedFormats: Set<ImageFormat> = []
    private var keepsColors = false
    private var trim: Trim?
    private var mark = ImgproxyWatermark()
    /// The source of the watermark; `nil` for the server's own.
    private var markSource: String?
    /// The server's own; `nil` if it has none.
    private let watermark: Watermark?

    init(longestSide: Int, watermark: Watermark?) {
        self.watermark = watermark
        sizing.longestSide = longestSide
    }

    /// Reads one option.
    /// - Throws: 400 that names the option if it is malformed, or if the server would make another picture than imgproxy.
    mutating func read(_ option: ImgproxyArguments) throws(Problem) {
        let sides = 0...sizing.longestSide
        switch option.name {
        case "resize", "rs":
            try option.check(atMost: 8)
            if !option[0].isEmpty { sizing.kind = try option.kind() }
            try readSize(option, from: 1)
        case "size", "s":
            try option.check(atMost: 7)
            try readSize(option, from: 0)
        case "resizing_type", "rt":
            try option.check(atMost: 1)
            sizing.kind = try option.kind()
        case "width", "w": sizing.width = try option.number(sides)
        case "height", "h": sizing.height = try option.number(sides)
        case "min-width", "mw": sizing.minWidth = try option.number(sides)
        case "min-height", "mh": sizing.minHeight = try option.number(sides)
        case "zoom", "z":
            try option.check(atMost: 2)
            guard let x = try option.decimal(at: 0, 0.01...100) else { throw option.wrong("Write zoom:2 or zoom:2:3.") }
            sizing.zoom = (x, try option.decimal(at: 1, 0.01...100) ?? x)
        case "dpr": sizing.pixelRatio = try option.decimal(0.01...10)
        case "enlarge", "el": sizing.enlarges = try option.flag()
        case "extend", "ex": try sizing.extend.read(option, from: 0)
        case "extend_aspect_ratio", "extend_ar", "exar": try sizing.extendAspect.read(option, from: 0)
        case "gravity", "g": try sizing.gravity.read(option, from: 0)
        case "crop", "c": try readCrop(option)
        case "padding", "pd": try readPadding(option)
        case "rotate", "rot":
            rotation = try option.number(0...36_000)
            guard rotation % 90 == 0 else { throw option.wrong("Write a multiple of 90, such as \(option.name):90.") }
        case "flip", "fl":
            try option.check(atMost: 2)
            flips.horizontal = try option.flag(at: 0) ?? flips.horizontal
            flips.vertical = try option.flag(at: 1) ?? flips.vertical
        case "blur", "bl": blur = try option.decimal(0...100)
        case "sharpen", "sh": sharpen = try option.decimal(0...100)
        case "background", "bg": background = try option.color()
        case "trim", "t": trim = try option.trim()
        case "watermark", "wm": try mark.read(option)
        case "watermark_url", "wmu":
            try option.check(atMost: 1)
            guard let source = option[0].base64Text else { throw option.wrong("Write a URL in base64url.") }
            markSource = source.isEmpty ? nil : ImgproxySource.name(source)
        default: try readOutput(option)
        }
    }

    /// Reads an option that doesn't change the pixels.
    private mutating func readOutput(_ option: ImgproxyArguments) throws(Problem) {
        switch option.name {
        case "quality", "q": quality = try option.number(0...100)
        case "format_quality", "fq":
            guard option.count % 2 == 0 else { throw option.wrong("Write \(option.name):jpg:70:webp:60.") }
            for index in stride(from: 0, to: option.count, by: 2) {
                let format = try PictureRequest.format(option[index])
                formatQualities[format] = try option.number(at: index + 1, 0...100) ?? formatQualities[format]
            }
        case "max_bytes", "mb": maxBytes = try option.number(0...Int.max)
        case "format", "f", "ext":
            try option.check(atMost: 1)
            try read(format: option[0])
        case "expires", "exp": expires = try option.number(0...Int.max)
        case "filename", "fn":
            try option.check(atMost: 2)
            guard let name = try option.flag(at: 1) == true ? option[0].base64Text : option[0].percentDecoded else {
                throw option.wrong("Write a percent-encoded name, or one in base64url with :1 after it.")
            }
            fileName = name
        case "return_attachment", "att": isAttachment = try option.flag()
        case "strip_color_profile", "scp": keepsColors = try !option.flag()
        case "cachebuster", "cb": try option.check(atMost: 1)
        case "skip_processing", "skp":
            for name in option.all { skippedFormats.insert(try PictureRequest.format(name)) }
        default: try refuse(option)
        }
    }

    /// Refuses an option unless it asks for what the server does anyway.
    private func refuse(_ option: ImgproxyArguments) throws(Problem) {
        switch option.name {
        case "auto_rotate", "ar": try option.require(true, "Pictures are turned upright.")
        case "strip_metadata", "sm": try option.require(true, "Metadata is removed.")
        case "keep_copyright", "kcr": try option.require(false, "The copyright is removed with the other metadata.")
        case "preserve_hdr", "ph": try option.require(false, "Pictures have 8 bits a channel.")
        case "enforce_thumbnail", "eth": try option.require(false, "The thumbnail in a file isn't used.")
        case "raw": try option.require(false, "Every picture is encoded again.")
        case "pixelate", "pix":
            guard try option.number(0...Int.max) <= 1 else { throw option.wrong("This server doesn't pixelate.") }
        case "http", "https", "local":
            throw Problem(.badRequest, "Write plain/ before the source \(option.text)/…")
        default:
            throw Problem(
                .badRequest, "This server has no processing option \(option.name). Leave out \(option.text).")
        }
    }

    /// Reads the extension after a source, which counts more than the option `format`. An empty one says nothing.
    mutating func read(format name: Substring) throws(Problem) { format = try PictureRequest.format(name) }

    /// Returns the request for a source.
    /// - Throws: 400 for a watermark where there is none.
    func request(for source: String) throws(Problem) -> PictureRequest {
        guard mark.opacity == 0 || watermark != nil || markSource != nil else {
            throw Problem(
                .badRequest,
                "This server has no watermark. Leave out wm:\(mark.opacity), or name a picture by watermark_url.")
        }
        var request = PictureRequest(source: source)
        request.stages = stages
        request.format = format
        request.quality = quality > 0 ? quality : nil
        request.qualities = formatQualities.filter { $0.value > 0 }
        request.maxBytes = maxBytes > 0 ? maxBytes : nil
        request.expires = expires > 0 ? expires : nil
        request.fileName = fileName.isEmpty ? nil : fileName
        request.isAttachment = isAttachment
        request.skippedFormats = skippedFormats
        request.gamut = keepsColors ? nil : .sRGB
        return request
    }

    /// imgproxy's order of work. It turns and mirrors after scaling, but places every cut as if that came first.
    private var stages: [any Stage] {
        var stages: [any Stage] = trim.map { [ImgproxyTrim(trim: $0)] } ?? []
        if rotation % 360 != 0 { stages.append(Rotate(degrees: Double(rotation % 360))) }
        if flips.horizontal { stages.append(Flip(.horizontal)) }
        if flips.vertical { stages.append(Flip(.vertical)) }
        if sizing.hasCrop { stages.append(ImgproxyCrop(sizing)) }
        stages.append(ImgproxyResize(sizing: sizing))
        // libvips cuts its Gaussian off at a fifth of the height, which leaves about 0.85 of the deviation.
        if blur > 0 { stages.append(Blur(sigma: 0.85 * blur)) }
        if sharpen > 0 { stages.append(ImgproxySharpen(sigma: sharpen)) }
        if sizing.hasCanvas { stages.append(ImgproxyCanvas(sizing: sizing)) }
        if let background { stages.append(Flatten(background)) }
        if let markSource, mark.opacity > 0 {
            stages.append(
                Overlaid([markSource]) { [opacity = watermark?.opacity ?? 1, mark, sizing] pictures in
                    ImgproxyMark(
                        watermark: Watermark(pictures[0], opacity: opacity), options: mark, sizing: sizing)
                })
        } else if let watermark, mark.opacity > 0 {
            stages.append(ImgproxyMark(watermark: watermark, options: mark, sizing: sizing))
        }
        return stages
    }

    private mutating func readSize(_ option: ImgproxyArguments, from start: Int) throws(Problem) {
        let sides = 0...sizing.longestSide
        sizing.width = try option.number(at: start, sides) ?? sizing.width
        sizing.height = try option.number(at: start + 1, sides) ?? sizing.height
        sizing.enlarges = try option.flag(at: start + 2) ?? sizing.enlarges
        if !option[start + 3].isEmpty { try sizing.extend.read(option, from: start + 3) }
    }

    private mutating func readCrop(_ option: ImgproxyArguments) throws(Problem) {
        guard let width = try option.decimal(at: 0, 0...1e6) else { throw option.wrong("Write crop:WIDTH:HEIGHT.") }
        sizing.crop = (width, try option.decimal(at: 1, 0...1e6) ?? sizing.crop.height)
        guard option.count > 2 else { return }
        var gravity = sizing.cropGravity ?? ImgproxyGravity()
        try gravity.read(option, from: 2)
        sizing.cropGravity = gravity
    }

    /// Top, right, bottom, left. As in CSS, a missing one is that of the opposite edge, or of the top.
    private mutating func readPadding(_ option: ImgproxyArguments) throws(Problem) {
        try option.check(atMost: 4)
        let range = 0...sizing.longestSide
        var padding = sizing.padding
        padding.top = try option.number(at: 0, range) ?? padding.top
        padding.right = try option.number(at: 1, range) ?? padding.top
        padding.bottom = try option.number(at: 2, range) ?? padding.top
        padding.left = try option.number(at: 3, range) ?? padding.right
        sizing.padding = padding
    }
}

extension ImgproxySizing.Canvas {
    fileprivate mutating func read(_ option: ImgproxyArguments, from start: Int) throws(Problem) {
        try option.check(atMost: start + 4)
        guard let isOn = try option.flag(at: start) else { throw option.wrong("Write extend:1.") }
        self.isOn = isOn
        if option.count > start + 1 { try gravity.read(option, from: start + 1, allowsSmart: false) }
    }
}

extension ImgproxyArguments {
    fileprivate func kind() throws(Problem) -> ImgproxySizing.Kind {
        guard let kind = ImgproxySizing.Kind(rawValue: String(self[0])) else {
            let names = ImgproxySizing.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw wrong("A resizing type is one of \(names).")
        }
        return kind
    }

    /// Reads `THRESHOLD:COLOR:EQUAL_SIDES:EQUAL_ENDS`; `nil` for an empty threshold.
    fileprivate func trim() throws(Problem) -> Trim? {
        try check(atMost: 4)
        guard let threshold = try decimal(at: 0, 0...255) else { return nil }
        let color = Self.color(hex: self[1])
        guard color != nil || self[1].isEmpty else { throw wrong("Write its colour as RRGGBB.") }
        return Trim(
            tolerance: Int(threshold), color: color, equalSides: try flag(at: 2) ?? false,
            equalEnds: try flag(at: 3) ?? false)
    }

    /// Reads `RRGGBB` or `RGB`.
    private static func color(hex text: Substring) -> Color? {
        let hex = text.count == 3 ? text.map { "\($0)\($0)" }.joined() : String(text)
        guard hex.utf8.count == 6, hex.allSatisfy(\.isHexDigit), let value = UInt32(hex, radix: 16) else { return nil }
        return Color(red: UInt8(value >> 16), green: UInt8(value >> 8 & 255), blue: UInt8(value & 255))
    }

    /// Reads `R:G:B`, `RRGGBB` or `RGB`; `nil` for an empty argument.
    fileprivate func color() throws(Problem) -> Color? {
        if count == 1 {
            if self[0].isEmpty { return nil }
            if let color = Self.color(hex: self[0]) { return color }
        } else if count == 3, let red = try number(at: 0, 0...255), let green = try number(at: 1, 0...255),
            let blue = try number(at: 2, 0...255)
        {
            return Color(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
        }
        throw wrong("Write \(name):R:G:B, \(name):RRGGBB, or \(name): for none.")
    }
}

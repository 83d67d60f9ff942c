import Stages

/// The processing options of a path in imgproxy's dialect, as far as they have been read.
struct ImgproxyOptions {
    let longestSide: Int
    private var request = PictureRequest(source: "")
    private var fit = Resize.Fit.inside
    private var width = 0
    private var height = 0
    private var pixelRatio = 1.0
    private var enlarges = false
    private var gravity = ImgproxyGravity.gravity(.center)
    private var first: [any Stage] = []
    private var later: [any Stage] = []

    init(longestSide: Int) { self.longestSide = longestSide }

    /// Reads one option: its name and its arguments.
    mutating func read(_ words: [Substring]) throws(Problem) {
        let name = words.first ?? ""
        let arguments = ImgproxyArguments(name: name, words: words.dropFirst())
        switch name {
        case "resize", "rs":
            fit = try arguments.fit()
            try readSize(arguments, from: 1)
        case "size", "s": try readSize(arguments, from: 0)
        case "resizing_type", "rt": fit = try arguments.fit()
        case "width", "w": width = try arguments.number(0, 0...longestSide) ?? 0
        case "height", "h": height = try arguments.number(0, 0...longestSide) ?? 0
        case "dpr": pixelRatio = try arguments.decimal(0, 0.1...8) ?? 1
        case "enlarge", "el": enlarges = arguments.isTrue(0)
        case "gravity", "g": gravity = try arguments.gravity(from: 0)
        case "crop", "c": first.append(try arguments.crop())
        case "rotate", "rot":
            let degrees = try arguments.number(0, 0...360) ?? 0
            later.append(Rotate(degrees: Double(degrees)))
        case "quality", "q": request.quality = try arguments.number(0, 0...100).flatMap { $0 == 0 ? nil : $0 }
        case "max_bytes", "mb": request.maxBytes = try arguments.number(0, 0...Int.max).flatMap { $0 == 0 ? nil : $0 }
        case "blur", "bl": later.append(Blur(sigma: try arguments.decimal(0, 0...100) ?? 0))
        case "sharpen", "sh": later.append(Sharpen(try arguments.decimal(0, 0...10) ?? 0.5))
        case "background", "bg": later.append(Flatten(try arguments.color()))
        case "format", "f", "ext": request.format = try PictureRequest.format(arguments.text(0))
        case "expires", "exp": request.expires = try arguments.number(0, 0...Int.max)
        case "filename", "fn": request.fileName = arguments.text(0).percentDecoded
        case "return_attachment", "att": request.isAttachment = arguments.isTrue(0)
        // What the server does anyway, and what changes nothing.
        case "auto_rotate", "ar", "strip_metadata", "sm", "cachebuster", "cb":
            guard !["auto_rotate", "ar", "strip_metadata", "sm"].contains(name) || arguments.isTrue(0) else {
                throw Problem(.badRequest, "\(name) can't be switched off here.")
            }
        default: throw Problem(.badRequest, "This server doesn't carry out the processing option \(name).")
        }
    }

    /// Returns the request for a source.
    func finished(_ source: String) throws(Problem) -> PictureRequest {
        func side(_ length: Int) -> Int {
            length == 0 ? longestSide : max(1, min(longestSide, Int((Double(length) * pixelRatio).rounded())))
        }
        var request = request
        request.source = source
        request.stages = first
        if width > 0 || height > 0 {
            let size = PixelSize(width: side(width), height: side(height))
            let fit = width == 0 || height == 0 ? .inside : fit
            switch (fit, gravity) {
            case (.cover, .smart):
                request.stages += [Resize(size, fit: .outside, enlarges: enlarges), Crop(size, by: .attention)]
            case (.cover, .focalPoint(let x, let y)):
                request.stages += [
                    Resize(size, fit: .outside, enlarges: enlarges), Crop(size, focalPoint: (x, y)),
                ]
            case (_, .gravity(let gravity)):
                request.stages.append(Resize(size, fit: fit, enlarges: enlarges, gravity: gravity))
            default: request.stages.append(Resize(size, fit: fit, enlarges: enlarges))
            }
        }
        request.stages += later
        return request
    }

    private mutating func readSize(_ arguments: ImgproxyArguments, from start: Int) throws(Problem) {
        width = try arguments.number(start, 0...longestSide) ?? 0
        height = try arguments.number(start + 1, 0...longestSide) ?? 0
        enlarges = arguments.isTrue(start + 2)
        guard !arguments.isTrue(start + 3) else { throw Problem(.badRequest, "This server doesn't extend pictures.") }
    }
}

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
    private var gravity = Place.gravity(.centre)
    private var first: [any Stage] = []
    private var later: [any Stage] = []

    private enum Place {
        case gravity(Gravity)
        case focalPoint(x: Double, y: Double)
        case smart
    }

    init(longestSide: Int) { self.longestSide = longestSide }

    /// Reads one option: its name and its arguments.
    mutating func read(_ words: [Substring]) throws(Problem) {
        let name = words.first ?? ""
        let arguments = Arguments(name: name, words: words.dropFirst())
        switch name {
        case "resize", "rs":
            fit = try Self.fit(arguments)
            try readSize(arguments, from: 1)
        case "size", "s": try readSize(arguments, from: 0)
        case "resizing_type", "rt": fit = try Self.fit(arguments)
        case "width", "w": width = try arguments.number(0, 0...longestSide) ?? 0
        case "height", "h": height = try arguments.number(0, 0...longestSide) ?? 0
        case "dpr": pixelRatio = try arguments.decimal(0, 0.1...8) ?? 1
        case "enlarge", "el": enlarges = arguments.isTrue(0)
        case "gravity", "g": gravity = try Self.gravity(arguments, from: 0)
        case "crop", "c": first.append(try Self.crop(arguments))
        case "rotate", "rot":
            let degrees = try arguments.number(0, 0...360) ?? 0
            later.append(Rotate(degrees: Double(degrees)))
        case "quality", "q": request.quality = try arguments.number(0, 0...100).flatMap { $0 == 0 ? nil : $0 }
        case "max_bytes", "mb": request.maxBytes = try arguments.number(0, 0...Int.max).flatMap { $0 == 0 ? nil : $0 }
        case "blur", "bl": later.append(Blur(sigma: try arguments.decimal(0, 0...100) ?? 0))
        case "sharpen", "sh": later.append(Sharpen(try arguments.decimal(0, 0...10) ?? 0.5))
        case "background", "bg": later.append(Flatten(try Self.colour(arguments)))
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

    private mutating func readSize(_ arguments: Arguments, from start: Int) throws(Problem) {
        width = try arguments.number(start, 0...longestSide) ?? 0
        height = try arguments.number(start + 1, 0...longestSide) ?? 0
        enlarges = arguments.isTrue(start + 2)
        guard !arguments.isTrue(start + 3) else { throw Problem(.badRequest, "This server doesn't extend pictures.") }
    }

    private static func fit(_ arguments: Arguments) throws(Problem) -> Resize.Fit {
        switch arguments.text(0) {
        case "", "fit": .inside
        case "fill": .cover
        case "force": .fill
        default: throw Problem(.badRequest, "The resizing type \(arguments.text(0)) is none of fit, fill and force.")
        }
    }

    private static func gravity(_ arguments: Arguments, from start: Int) throws(Problem) -> Place {
        let names: [Substring: Gravity] = [
            "": .centre, "ce": .centre, "no": .north, "so": .south, "ea": .east, "we": .west, "noea": .northEast,
            "nowe": .northWest, "soea": .southEast, "sowe": .southWest,
        ]
        let name = arguments.text(start)
        if name == "sm" { return .smart }
        if name == "fp" {
            return .focalPoint(
                x: try arguments.decimal(start + 1, 0...1) ?? 0.5, y: try arguments.decimal(start + 2, 0...1) ?? 0.5)
        }
        guard let gravity = names[name] else { throw Problem(.badRequest, "There is no gravity \(name).") }
        guard try arguments.decimal(start + 1, 0...0) ?? 0 == 0, try arguments.decimal(start + 2, 0...0) ?? 0 == 0
        else {
            throw Problem(.badRequest, "This server has no offsets of gravity.")
        }
        return .gravity(gravity)
    }

    private static func crop(_ arguments: Arguments) throws(Problem) -> any Stage {
        func length(_ index: Int) throws(Problem) -> Crop.Length {
            guard let value = try arguments.decimal(index, 0...1e6), value > 0 else { return .percent(100) }
            return value < 1 ? .percent(value * 100) : .pixels(Int(value))
        }
        guard case .gravity(let gravity) = try gravity(arguments, from: 2) else {
            throw Problem(.badRequest, "A crop takes a side or a corner as its gravity; smart ones come with rs:fill.")
        }
        return Crop(width: try length(0), height: try length(1), gravity: gravity)
    }

    private static func colour(_ arguments: Arguments) throws(Problem) -> Colour {
        let hex = arguments.text(0)
        if arguments.count == 1, hex.utf8.count == 6, let value = UInt32(hex, radix: 16) {
            return Colour(
                red: UInt8(value >> 16), green: UInt8(value >> 8 & 255), blue: UInt8(value & 255))
        }
        guard let red = try arguments.number(0, 0...255), let green = try arguments.number(1, 0...255),
            let blue = try arguments.number(2, 0...255)
        else { throw Problem(.badRequest, "Write a background as bg:R:G:B or bg:RRGGBB.") }
        return Colour(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
    }
}

/// The arguments of one option. Missing and empty ones have their default.
private struct Arguments {
    let name: Substring
    private let words: [Substring]

    init(name: Substring, words: ArraySlice<Substring>) {
        self.name = name
        self.words = Array(words)
    }

    var count: Int { words.count }

    func text(_ index: Int) -> Substring { words.indices.contains(index) ? words[index] : "" }

    func isTrue(_ index: Int) -> Bool { ["1", "t", "true"].contains(text(index)) }

    func number(_ index: Int, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard !text(index).isEmpty else { return nil }
        guard let number = text(index).plainNumber, range.contains(number) else { throw wrong(index) }
        return number
    }

    func decimal(_ index: Int, _ range: ClosedRange<Double>) throws(Problem) -> Double? {
        guard !text(index).isEmpty else { return nil }
        guard let number = text(index).plainDecimal, range.contains(number) else { throw wrong(index) }
        return number
    }

    private func wrong(_ index: Int) -> Problem {
        Problem(.badRequest, "\(text(index)) is out of range or not a number, in the processing option \(name).")
    }
}

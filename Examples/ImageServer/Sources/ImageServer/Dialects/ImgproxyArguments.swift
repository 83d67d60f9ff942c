import Stages

/// The arguments of one option. Missing and empty ones have their default.
struct ImgproxyArguments {
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

/// Which part of a picture a cut keeps.
enum ImgproxyGravity {
    case gravity(Gravity)
    case focalPoint(x: Double, y: Double)
    case smart
}

extension ImgproxyArguments {
    func fit() throws(Problem) -> Resize.Fit {
        switch text(0) {
        case "", "fit": .inside
        case "fill": .cover
        case "force": .fill
        default: throw Problem(.badRequest, "The resizing type \(text(0)) is none of fit, fill and force.")
        }
    }

    func gravity(from start: Int) throws(Problem) -> ImgproxyGravity {
        let names: [Substring: Gravity] = [
            "": .center, "ce": .center, "no": .north, "so": .south, "ea": .east, "we": .west, "noea": .northEast,
            "nowe": .northWest, "soea": .southEast, "sowe": .southWest,
        ]
        let name = text(start)
        if name == "sm" { return .smart }
        if name == "fp" {
            return .focalPoint(
                x: try decimal(start + 1, 0...1) ?? 0.5, y: try decimal(start + 2, 0...1) ?? 0.5)
        }
        guard let gravity = names[name] else { throw Problem(.badRequest, "There is no gravity \(name).") }
        guard try decimal(start + 1, 0...0) ?? 0 == 0, try decimal(start + 2, 0...0) ?? 0 == 0 else {
            throw Problem(.badRequest, "This server has no offsets of gravity.")
        }
        return .gravity(gravity)
    }

    func crop() throws(Problem) -> any Stage {
        func length(_ index: Int) throws(Problem) -> Crop.Length {
            guard let value = try decimal(index, 0...1e6), value > 0 else { return .percent(100) }
            return value < 1 ? .percent(value * 100) : .pixels(Int(value))
        }
        guard case .gravity(let gravity) = try gravity(from: 2) else {
            throw Problem(.badRequest, "A crop takes a side or a corner as its gravity; smart ones come with rs:fill.")
        }
        return Crop(width: try length(0), height: try length(1), gravity: gravity)
    }

    func color() throws(Problem) -> Color {
        let hex = text(0)
        if count == 1, hex.utf8.count == 6, let value = UInt32(hex, radix: 16) {
            return Color(red: UInt8(value >> 16), green: UInt8(value >> 8 & 255), blue: UInt8(value & 255))
        }
        guard let red = try number(0, 0...255), let green = try number(1, 0...255),
            let blue = try number(2, 0...255)
        else { throw Problem(.badRequest, "Write a background as bg:R:G:B or bg:RRGGBB.") }
        return Color(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
    }
}

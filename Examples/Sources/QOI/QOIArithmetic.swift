import Foundation

/// A pixel, as the specification defines it (qoiformat.org/qoi-specification.pdf).
struct QOIPixel: Equatable {
    var red, green, blue, alpha: UInt8

    static let first = QOIPixel(red: 0, green: 0, blue: 0, alpha: 255)
    static let clear = QOIPixel(red: 0, green: 0, blue: 0, alpha: 0)

    /// The pixel's index in the table of 64 pixels seen before.
    var place: Int { (Int(red) * 3 + Int(green) * 5 + Int(blue) * 7 + Int(alpha) * 11) % 64 }
}

/// Reads pixels from chunks. Nothing in the bytes is trusted.
struct QOIReader {
    static let headerLength = 14

    private let bytes: [UInt8]
    private var position = headerLength
    private var seen = [QOIPixel](repeating: .clear, count: 64)
    private var pixel = QOIPixel.first
    private var repetitions = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// The next pixel; `nil` if the file is truncated.
    mutating func next() -> QOIPixel? {
        if repetitions > 0 {
            repetitions -= 1
            return pixel
        }
        guard let tag = byte() else { return nil }
        switch (tag, tag >> 6) {
        case (0xfe, _), (0xff, _):
            guard let red = byte(), let green = byte(), let blue = byte() else { return nil }
            pixel = QOIPixel(red: red, green: green, blue: blue, alpha: pixel.alpha)
            if tag == 0xff {
                guard let alpha = byte() else { return nil }
                pixel.alpha = alpha
            }
        case (_, 0): pixel = seen[Int(tag)]
        case (_, 1):
            pixel.red &+= (tag >> 4 & 3) &- 2
            pixel.green &+= (tag >> 2 & 3) &- 2
            pixel.blue &+= (tag & 3) &- 2
        case (_, 2):
            guard let rest = byte() else { return nil }
            let green = (tag & 63) &- 32
            pixel.red &+= green &- 8 &+ (rest >> 4)
            pixel.green &+= green
            pixel.blue &+= green &- 8 &+ (rest & 15)
        default: repetitions = Int(tag & 63)
        }
        seen[pixel.place] = pixel
        return pixel
    }
}

/// Writes pixels as chunks.
struct QOIWriter {
    private var bytes: [UInt8]
    private var seen = [QOIPixel](repeating: .clear, count: 64)
    private var last = QOIPixel.first
    private var repetitions: UInt8 = 0

    init(width: Int, height: Int, hasAlpha: Bool) {
        func big(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
        bytes = Array("qoif".utf8) + big(width) + big(height) + [hasAlpha ? 4 : 3, 0]
    }

    mutating func write(_ pixel: QOIPixel) {
        if pixel == last {
            repetitions += 1
            if repetitions == 62 { endRun() }
            return
        }
        endRun()
        defer {
            seen[pixel.place] = pixel
            last = pixel
        }
        if seen[pixel.place] == pixel { return bytes.append(UInt8(pixel.place)) }
        guard pixel.alpha == last.alpha else {
            bytes += [0xff, pixel.red, pixel.green, pixel.blue, pixel.alpha]
            return
        }
        let red = Int8(bitPattern: pixel.red &- last.red)
        let green = Int8(bitPattern: pixel.green &- last.green)
        let blue = Int8(bitPattern: pixel.blue &- last.blue)
        let (byRed, byBlue) = (red &- green, blue &- green)
        if [red, green, blue].allSatisfy({ (-2...1).contains($0) }) {
            bytes.append(0x40 | UInt8(red + 2) << 4 | UInt8(green + 2) << 2 | UInt8(blue + 2))
        } else if (-32...31).contains(green), (-8...7).contains(byRed), (-8...7).contains(byBlue) {
            bytes += [0x80 | UInt8(green + 32), UInt8(byRed + 8) << 4 | UInt8(byBlue + 8)]
        } else {
            bytes += [0xfe, pixel.red, pixel.green, pixel.blue]
        }
    }

    private mutating func endRun() {
        if repetitions > 0 { bytes.append(0xc0 | (repetitions - 1)) }
        repetitions = 0
    }

    mutating func finish() -> [UInt8] {
        endRun()
        return bytes + [0, 0, 0, 0, 0, 0, 0, 1]
    }
}

extension QOIDecoder {
    /// sRGB's value for each value of linear light (IEC 61966-2-1).
    static let sRGB: [UInt8] = (0..<256).map { value in
        let light = Double(value) / 255
        return UInt8((255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055)).rounded())
    }
}

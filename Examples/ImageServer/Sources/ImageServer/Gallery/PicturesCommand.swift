import ArgumentParser
import Foundation
import Stages

/// Makes a folder of pictures for the gallery: generated ones, and photographs of another folder.
struct PicturesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pictures", abstract: "Makes a folder of pictures that can be told apart by their pixels.")

    @Argument(help: "The folder, which is made if it is missing.")
    var folder: String

    @Option(help: "How many pictures there are in all.")
    var count = 200

    @Option(name: .customLong("photograph"), help: "A photograph to copy there. May be repeated.")
    var photographs: [String] = []

    mutating func run() async throws {
        let target = URL(fileURLWithPath: folder, isDirectory: true)
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        for path in photographs {
            let file = target.appending(path: URL(fileURLWithPath: path).lastPathComponent)
            try Data(contentsOf: URL(fileURLWithPath: path)).write(to: file)
        }
        for number in 0..<max(0, count - photographs.count) {
            let format: (ImageFormat, String) =
                number % 7 == 6 ? (.webp, "webp") : number % 5 == 4 ? (.png, "png") : (.jpeg, "jpg")
            let name = "pattern-" + String(repeating: "0", count: 3 - "\(number)".count) + "\(number).\(format.1)"
            let file = target.appending(path: name)
            guard !FileManager.default.fileExists(atPath: file.path) else { continue }
            let result = try await Self.pattern(number).load(ImageRequest(.bytes([])), format.0)
            try Data(result).write(to: file)
        }
        print("\(count) pictures in \(folder)")
    }

    /// A list whose picture shows a number: its colours by their hue, and its eight bits as light and dark blocks.
    static func pattern(_ number: Int) -> PatternPicture { PatternPicture(number: number) }
}

/// A picture that a number can be read from.
struct PatternPicture: Sendable {
    let number: Int

    /// In pixels; landscape, portrait or wide.
    var size: PixelSize {
        [
            PixelSize(width: 1000, height: 750), PixelSize(width: 750, height: 1000),
            PixelSize(width: 1200, height: 675),
        ][
            number % 3]
    }

    /// Makes the file.
    func load(_ request: ImageRequest, _ format: ImageFormat) async throws -> [UInt8] {
        let image = pixels
        let list = ImagePipeline {
            ClosureStage("Draw", accepts: .empty, produces: .decoded) { load in
                load.advance(to: .decoded(image), from: .inline)
                return .done
            }
            Encode(format, quality: 88)
        }
        return try await list.load(request).encoded?.bytes ?? []
    }

    private var pixels: DecodedImage {
        // Most rows are equal, so each kind is drawn once.
        var rows: [[Int]: [UInt8]] = [:]
        let top = (size.height - 2 * side) / 2
        let pixels = (0..<size.height).flatMap { y -> [UInt8] in
            let band = y * 20 / size.height
            let row = y >= top && y < top + 2 * side ? (y - top) / side : -1
            let kind = [band, row, y % 50 == 0 ? 1 : 0]
            if let known = rows[kind] { return known }
            let made = drawn(row: row, light: 0.35 + 0.02 * Double(band), isLine: y % 50 == 0)
            rows[kind] = made
            return made
        }
        return DecodedImage(size: size, layout: .rgb, pixels: pixels)
    }

    /// The side of a block.
    private var side: Int { min(size.width, size.height) / 6 }

    /// One row of pixels: of the blocks' first or second row, or of none (-1).
    private func drawn(row: Int, light: Double, isLine: Bool) -> [UInt8] {
        // Neighbouring numbers get hues far apart.
        let hue = Double(number * 89 % 200) / 200
        let left = (size.width - 4 * side) / 2
        return (0..<size.width).flatMap { x -> [UInt8] in
            let column = (x - left) / side
            let bit = row >= 0 && x >= left && column < 4 ? number >> (row * 4 + column) & 1 : -1
            let light = bit < 0 ? light : bit == 1 ? 0.95 : 0.08
            // Fine lines, so that zooming in shows something.
            let color = Self.color(
                hue + 0.12 * Double(x) / Double(size.width), isLine || x % 50 == 0 ? light * 0.8 : light)
            return [color.0, color.1, color.2]
        }
    }

    /// A saturated colour by hue and lightness, both from 0 to 1.
    private static func color(_ hue: Double, _ light: Double) -> (UInt8, UInt8, UInt8) {
        func channel(_ shift: Double) -> UInt8 {
            let turn = (hue + shift).truncatingRemainder(dividingBy: 1) * 6
            let level = min(1, max(0, abs(turn - 3) - 1))
            return UInt8(255 * (light + (level - 0.5) * 0.6 * min(light, 1 - light) * 2).clamped)
        }
        return (channel(0), channel(2.0 / 3), channel(1.0 / 3))
    }
}

extension Double {
    fileprivate var clamped: Double { min(1, max(0, self)) }
}

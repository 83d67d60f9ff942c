import Foundation
import Pipeline
import Stages

/// A way in which a file can make a decoder work hard, with files that do so.
struct GrowthKind {
    let name: String
    let sizes: [Int]
    var frames = 1
    /// The allowed cost of each piece beyond twice the ordinary file, if a library can't avoid it.
    var piece: Piece?
    /// Makes an ordinary file of the same format, coding mode and pixels.
    let ordinary: () async throws -> [UInt8]
    let make: (Int) async throws -> [UInt8]

    struct Piece {
        let microseconds: Double
        let reason: String
    }

    /// Returns all kinds. Those with many pixels use a photograph of three megapixels.
    static func all() async throws -> [GrowthKind] {
        let photograph = URL(filePath: "Tests/Images/good/photo-12mp-baseline-420.jpg")
        let response = try await ImagePipeline {
            ReadInline()
            Decode()
            Downscale()
        }.load(ImageRequest(.bytes([UInt8](try Data(contentsOf: photograph))), maxPixelSize: 2000))
        guard let image = response.image else { return [] }
        return try await sides + chunks(image) + frames + parts + HEIFGrowth.kinds()
    }

    /// Encodes a picture.
    static func encoded(
        _ image: DecodedImage, _ format: ImageFormat, _ change: (inout EncodeOptions) -> Void = { _ in }
    ) async throws -> [UInt8] {
        var options = EncodeOptions()
        change(&options)
        let pipeline = try ImagePipeline(validating: Chain([Supply(image: image), Encode(format, options: options)]))
        return try await pipeline.load(ImageRequest(.bytes([]))).encoded?.bytes ?? []
    }

    /// Makes a picture whose pattern repeats only after many pixels.
    static func picture(_ width: Int, _ height: Int) -> DecodedImage {
        DecodedImage(
            size: PixelSize(width: width, height: height), layout: .gray,
            pixels: (0..<width * height).map { UInt8(truncatingIfNeeded: $0 / 7 ^ $0 / 5000) })
    }

    static func big(_ value: Int, _ count: Int) -> [UInt8] { little(value, count).reversed() }

    static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    // MARK: Sides

    private static var sides: [GrowthKind] {
        let cases: [(ImageFormat, String, Int)] = [
            (.png, "PNG", 100_000), (.tiff, "TIFF", 100_000), (.jpeg, "JPEG", 65_500), (.gif, "GIF", 65_500),
            (.webp, "WebP", 16_380),
        ]
        return cases.flatMap { format, name, longest in
            let other = 3_000_000 / longest
            let square = { try await encoded(picture(1732, 1732), format) }
            let sizes = [longest / 4, longest / 2, longest]
            return [
                GrowthKind(name: "\(name), wide", sizes: sizes, ordinary: square) {
                    try await encoded(picture($0, other), format)
                },
                GrowthKind(name: "\(name), tall", sizes: sizes, ordinary: square) {
                    try await encoded(picture(other, $0), format)
                },
            ]
        }
    }

    // MARK: Frames

    private static var frames: [GrowthKind] {
        let gif = { (count: Int) -> [UInt8] in
            let frame: [UInt8] = [0x21, 0xf9, 4, 0, 1, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4c, 1, 0]
            return Array("GIF89a".utf8) + little(500, 2) + little(500, 2) + [0x80, 0, 0, 0, 0, 0, 255, 255, 255]
                + (0..<count).flatMap { _ in frame } + [0x3b]
        }
        let webp = { (count: Int) async throws -> [UInt8] in
            let small = try await encoded(picture(16, 16), .webp)
            let data = Array(small.dropFirst(12))
            let content = little(0, 3) + little(0, 3) + little(15, 3) + little(15, 3) + little(100, 3) + [0] + data
            let frame = Array("ANMF".utf8) + little(content.count, 4) + content
            let start =
                chunk("VP8X", [2, 0, 0, 0] + little(499, 3) + little(499, 3)) + chunk("ANIM", [0, 0, 0, 0, 0, 0])
            let body = Array("WEBP".utf8) + start + (0..<count).flatMap { _ in frame }
            return Array("RIFF".utf8) + little(body.count, 4) + body
        }
        let tiff = { (pages: Int) -> [UInt8] in
            GrowthTIFF.file(width: 8, height: 8, rowsPerStrip: 8, pages: pages)
        }
        return [
            GrowthKind(
                name: "GIF frames, first", sizes: [100_000, 200_000, 400_000], ordinary: { gif(100) }, make: gif),
            GrowthKind(name: "GIF frames, all", sizes: [50, 100, 200], frames: 200, ordinary: { gif(200) }, make: gif),
            GrowthKind(
                name: "WebP frames, first", sizes: [16_000, 32_000, 64_000],
                piece: .init(microseconds: 0.1, reason: "libwebp lists all frames, for the header and the pixels"),
                ordinary: { try await webp(100) }, make: webp),
            GrowthKind(
                name: "WebP frames, all", sizes: [50, 100, 200], frames: 200, ordinary: { try await webp(200) },
                make: webp),
            GrowthKind(name: "TIFF pages", sizes: [16_000, 32_000, 64_000], ordinary: { tiff(1) }, make: tiff),
        ]
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + little(content.count, 4) + content + (content.count % 2 == 1 ? [0] : [])
    }
}

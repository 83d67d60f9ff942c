import FoundationEssentials
import Pipeline
import Stages

/// What each format and option takes to write a thumbnail, and how many bytes it has: `benchmarks encode FILE`.
enum EncodeCosts {
    static func run(_ path: String) async throws {
        let file = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let decoded = try await ImagePipeline {
            ReadInline()
            Decode()
            Downscale()
        }.load(ImageRequest(.bytes(file), maxPixelSize: 300))
        guard let image = decoded.image else { return }
        print("\(path) at \(image.size)")
        for (name, format, change) in cases {
            var options = EncodeOptions()
            change(&options)
            try await measure(name, Encode(format, options: options), image)
        }
    }

    private static let cases: [(String, ImageFormat, @Sendable (inout EncodeOptions) -> Void)] = [
        ("JPEG", .jpeg, { _ in }), ("JPEG, fixed codes", .jpeg, { $0.jpeg.optimizesCodes = false }),
        ("JPEG, progressive", .jpeg, { $0.jpeg.progressive = true }),
        ("JPEG, maxBytes: 5,000", .jpeg, { $0.maxBytes = 5000 }), ("PNG", .png, { _ in }),
        ("PNG, no filter", .png, { $0.png.filter = .none }), ("PNG, level 1", .png, { $0.png.compression = 1 }),
        ("PNG, level 9", .png, { $0.png.compression = 9 }), ("PNG, 256 colours", .png, { $0.png.colours = 256 }),
        ("WebP", .webp, { _ in }), ("WebP, effort 2", .webp, { $0.webp.effort = 2 }),
        ("WebP, effort 0", .webp, { $0.webp.effort = 0 }), ("WebP, lossless", .webp, { $0.webp.lossless = true }),
        ("AVIF", .avif, { _ in }), ("AVIF, effort 0", .avif, { $0.avif.effort = 0 }),
        ("AVIF, effort 4", .avif, { $0.avif.effort = 4 }), ("GIF", .gif, { _ in }), ("TIFF", .tiff, { _ in }),
    ]

    private static func measure(_ name: String, _ encode: Encode, _ image: DecodedImage) async throws {
        let supply = Supply(image: image)
        let pipeline = ImagePipeline {
            supply
            encode
        }
        let request = ImageRequest(.bytes([]))
        let bytes = try await pipeline.load(request).encoded?.bytes.count ?? 0
        let clock = SystemClock()
        var times: [Double] = []
        for _ in 0..<15 {
            let start = clock.uptime
            _ = try await pipeline.load(request)
            times.append((clock.uptime - start) / .milliseconds(1))
        }
        // The fastest: what other programs on the machine take is not the encoder's.
        let best = ((times.min() ?? 0) * 100).rounded() / 100
        print("\(name): \(best) ms, \(bytes) bytes")
    }
}

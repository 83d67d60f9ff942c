import Foundation
import Pipeline
import Stages

/// Measures the time to write and read a thumbnail, and its bytes, for each format and option: `benchmarks encode FILE
/// [SIZE]`. The doc comments of the options quote these costs.
enum EncodeCosts {
    private static let rounds = 15

    private struct Case: Sendable {
        let name: String
        let format: ImageFormat
        var change: @Sendable (inout EncodeOptions) -> Void = { _ in }
    }

    /// The first case of each format has the defaults; the others are compared with it.
    private static let cases = [
        Case(name: "JPEG", format: .jpeg),
        Case(name: "JPEG, fixed codes", format: .jpeg) { $0.jpeg.optimizesCodes = false },
        Case(name: "JPEG, progressive", format: .jpeg) { $0.jpeg.progressive = true },
        Case(name: "JPEG, maxBytes: 50,000", format: .jpeg) { $0.maxBytes = 50_000 },
        Case(name: "PNG", format: .png), Case(name: "PNG, no filter", format: .png) { $0.png.filter = .none },
        Case(name: "PNG, level 1", format: .png) { $0.png.compression = 1 },
        Case(name: "PNG, level 9", format: .png) { $0.png.compression = 9 },
        Case(name: "PNG, 256 colours", format: .png) { $0.png.colors = 256 },
        Case(name: "WebP", format: .webp), Case(name: "WebP, effort 2", format: .webp) { $0.webp.effort = 2 },
        Case(name: "WebP, effort 0", format: .webp) { $0.webp.effort = 0 },
        Case(name: "WebP, lossless", format: .webp) { $0.webp.lossless = true },
        Case(name: "AVIF", format: .avif), Case(name: "AVIF, effort 0", format: .avif) { $0.avif.effort = 0 },
        Case(name: "AVIF, effort 4", format: .avif) { $0.avif.effort = 4 },
        Case(name: "AVIF, effort 9", format: .avif) { $0.avif.effort = 9 },
        Case(name: "GIF", format: .gif), Case(name: "TIFF", format: .tiff),
        Case(name: "TIFF, LZW", format: .tiff) { $0.tiff.compression = .lzw },
        Case(name: "TIFF, not packed", format: .tiff) { $0.tiff.compression = .none },
    ]

    static func run(_ path: String, size: Int) async throws {
        let file = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let decoded = try await ImagePipeline {
            ReadInline()
            Decode()
            Downscale()
        }.load(ImageRequest(.bytes(file), maxPixelSize: PixelSize(square: size)))
        guard let image = decoded.image else { return }
        var measured = cases.map { _ in (written: [Double](), read: [Double](), bytes: 0) }
        // The cases alternate, so that other load on the machine affects all alike.
        for round in 0...rounds {
            for (index, example) in cases.enumerated() where round < 2 || example.name != "AVIF, effort 9" {
                let (written, bytes) = try await write(image, example)
                let read = try await read(bytes)
                // The first round warms up.
                guard round > 0 else { continue }
                measured[index].written.append(written)
                measured[index].read.append(read)
                measured[index].bytes = bytes.count
            }
        }
        print(
            "\(path) at \(image.size); median CPU time of \(rounds) rounds, and ratios to the format's defaults:"
        )
        for (index, example) in cases.enumerated() {
            guard let first = cases.firstIndex(where: { $0.format == example.format }) else { continue }
            let (row, base) = (measured[index], measured[first])
            let ratios = [
                median(row.written) / median(base.written), median(row.read) / median(base.read),
                Double(row.bytes) / Double(base.bytes),
            ]
            print(
                String(
                    format: "  write %8.2f ms (%5.2f)   read %6.2f ms (%4.2f)   %7d bytes (%4.2f)  ",
                    median(row.written),
                    ratios[0], median(row.read), ratios[1], row.bytes, ratios[2]) + example.name)
        }
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func write(_ image: DecodedImage, _ example: Case) async throws -> (Double, [UInt8]) {
        var options = EncodeOptions()
        example.change(&options)
        let pipeline = try ImagePipeline(
            validating: Chain([Supply(image: image), Encode(example.format, options: options)]))
        let start = Thumbnails.cpuSeconds()
        let bytes = try await pipeline.load(ImageRequest(.bytes([]))).encoded?.bytes ?? []
        return ((Thumbnails.cpuSeconds() - start) * 1000, bytes)
    }

    private static func read(_ bytes: [UInt8]) async throws -> Double {
        let pipeline = ImagePipeline {
            ReadInline()
            Decode()
        }
        let start = Thumbnails.cpuSeconds()
        _ = try await pipeline.load(ImageRequest(.bytes(bytes)))
        return (Thumbnails.cpuSeconds() - start) * 1000
    }
}

import Foundation
import Pipeline
import Stages

/// Compares results made from a larger stored variant with those made from the original: 12 megapixels to between 180
/// and 300 pixels, with a stored variant of 1,280.
enum LargerVariants {
    private static let sides = [300, 280, 260, 240, 220, 200, 180]

    static func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "larger-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let photograph = [UInt8](
            try Data(contentsOf: URL(filePath: "Tests/Images/good/photo-12mp-baseline-420.jpg")))
        let png = try await EncodedImage(encoding: DecodedImage(decoding: photograph), as: .png).bytes
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: folder),
            client: ClosureClient { url in url.path.hasPrefix("/png") ? png : photograph })
        print("A result of 180 to 300, CPU:   of the original   of a stored 1280   ratio   PSNR between")
        for original in ["jpeg", "png"] {
            for format in [ImageFormat.jpeg, .webp, .avif] {
                try await compare(original, format, resources)
            }
        }
    }

    private static func compare(_ original: String, _ format: ImageFormat, _ resources: PipelineResources) async throws
    {
        let lists = [list(format, resources, reuse: false), list(format, resources, reuse: true)]
        var times = [[Double](), []]
        var results: [[LoadResponse]] = [[], []]
        func load(_ index: Int, _ side: Int) async throws -> LoadResponse {
            let url = URL(string: "https://images.example.com/\(original)/\(format)/\(index)")
            guard let url else { throw CancellationError() }
            return try await lists[index].load(ImageRequest(url, maxPixelSize: PixelSize(square: side)))
        }
        for index in 0..<2 { _ = try await load(index, 1280) }
        for side in sides {
            for index in 0..<2 {
                let start = Thumbnails.cpuSeconds()
                results[index].append(try await load(index, side))
                times[index].append((Thumbnails.cpuSeconds() - start) * 1000)
            }
        }
        let name = "  \(original) to \(format)".padding(toLength: 22, withPad: " ", startingAt: 0)
        guard results[1].allSatisfy({ $0.trace.entries(of: FromLargerVariant.self).first?.outcome == .hit }) else {
            print(name, "not made from the larger one")
            return
        }
        let (whole, larger) = (times[0].sorted()[sides.count / 2], times[1].sorted()[sides.count / 2])
        print(
            String(
                format: "%@ %21.1f ms %15.1f ms   %5.2f   %.1f dB", name, whole, larger, larger / whole,
                try await psnr(results[0][0], results[1][0])))
    }

    private static func list(_ format: ImageFormat, _ resources: PipelineResources, reuse: Bool) -> ImagePipeline {
        let list = ImagePipeline.returnCacheElseLoad(resources).encoding(Encode(format), keptIn: resources.responses)
        guard reuse else { return list }
        return list.wrapping(from: Decode.self) { making in FromLargerVariant(resources.responses) { making } }
    }

    private static func psnr(_ one: LoadResponse, _ other: LoadResponse) async throws -> Double {
        var pixels: [[UInt8]] = []
        for response in [one, other] {
            let image = try await DecodedImage(decoding: response.encoded?.bytes ?? [])
            pixels.append(try image.withPixels { Array($0) })
        }
        let squares = zip(pixels[0], pixels[1]).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
        return 10 * log10(255 * 255 * Double(pixels[0].count) / squares)
    }
}

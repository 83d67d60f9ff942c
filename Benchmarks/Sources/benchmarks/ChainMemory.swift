import Foundation
import Pipeline
import ProcessMemory
import Stages

/// Measures the memory of five transforms on a JPEG of 100 megapixels, above the idle process.
enum ChainMemory {
    static func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "benchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "100mp.jpg")
        try await make(file)
        // In a separate process, which has never held the picture's pixels.
        let child = Process()
        child.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        child.arguments = ["chain", file.path()]
        try child.run()
        child.waitUntilExit()
    }

    /// Prints the memory that the chain takes for a file.
    static func measure(_ path: String) async throws {
        let pipeline = ImagePipeline {
            ReadFile()
            Decode(limits: ImageLimits(pixels: 200_000_000))
            Rotate(.quarter)
            Resize(300, fit: .cover)
            Sharpen()
            Adjust(saturation: 1.2)
            RoundCorners(radius: 20)
        }
        let idle = ProcessMemory.resident
        let response = try await pipeline.load(ImageRequest(.file(path)))
        print(
            "Five transforms on a \(response.nativeSize.map { "\($0)" } ?? "") JPEG, to \(response.size.map { "\($0)" } ?? ""):"
        )
        print(String(format: "  idle %.1f MB, peak %.1f MB above it", idle, ProcessMemory.peak - idle))
    }

    /// Makes a file of 3×3 photographs: 12096×8928 pixels.
    private static func make(_ file: URL) async throws {
        let photo = "Tests/Images/good/photo-12mp-baseline-420.jpg"
        let decoded = try await ImagePipeline {
            ReadFile()
            Decode()
        }.load(ImageRequest(.file(photo))).image
        guard let decoded else { return }
        let size = PixelSize(width: decoded.width * 3, height: decoded.height * 3)
        let stride = decoded.width * 3
        var pixels: [UInt8] = []
        pixels.reserveCapacity(stride * 3 * size.height)
        try decoded.withPixels { decodedPixels in
            for row in 0..<size.height {
                let start = row % decoded.height * stride
                for _ in 0..<3 { pixels += decodedPixels[start..<start + stride] }
            }
        }
        let large = DecodedImage(size: size, layout: .rgb, pixels: pixels)
        let encoded = try await ImagePipeline {
            Supply(image: large)
            Encode(.jpeg)
        }.load(ImageRequest(.bytes([]))).encoded
        try Data(encoded?.bytes ?? []).write(to: file)
    }

    private struct Supply: Stage {
        let image: DecodedImage
        let accepts: Phases = .empty
        let produces: Phases = .decoded

        func run(_ load: inout Load) async throws -> Outcome {
            load.advance(to: .decoded(image), from: .inline)
            return .done
        }
    }
}

import Foundation
import HTTPTypes
import Pipeline
import Stages

/// Measures the cost of loading an image that is in memory.
enum MemoryHits {
    static func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "memory-hits-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let url = try unwrap(URL(string: "https://images.example.com/photos/2024/11/cat-on-a-mat.jpg?width=1200"))
        let image = DecodedImage(
            size: 300, layout: .rgb,
            frames: [DecodedImage.Frame(pixels: [UInt8](repeating: 128, count: 300 * 300 * 3))])

        let loader = try ImageLoader(cacheFolder: folder)
        let pipeline = loader.pipeline(for: loader.defaults.policy)
        let request = ImageRequest(url, maxPixelSize: loader.defaults.maxPixelSize)
        let source = try unwrap(SourceKey(request))
        let key = VariantKey(source: source, request: request, list: pipeline.signature)
        let memory = loader.resources.memory
        let now = Date()
        memory.insert(MemoryEntry(product: .image(image), validity: Validity(storedAt: now)), for: key, now: now)

        // `benchmarks --profile N` does nothing but N loads, for an instruction counter such as callgrind.
        if CommandLine.arguments.count == 3, let calls = Int(CommandLine.arguments[2]) {
            for _ in 0..<calls { _ = try await loader.load(url) }
            return
        }
        print("Loading an image from memory, per call:")
        let front = try await Measurement.of { _ = try await loader.load(url) }
        front.print("  ImageLoader.load(url)")
        let list = try await Measurement.of { _ = try await pipeline.load(request) }
        list.print("  ImagePipeline.load(request)")
        let lookup = await Measurement.of { _ = memory.entry(for: key, now: now) }
        lookup.print("  MemoryCache.entry(for:)")
        let identity = await Measurement.of { _ = SourceKey(request) }
        identity.print("  SourceKey(request)")
        let clock = SystemClock()
        await Measurement.of { _ = clock.uptime }.print("  SystemClock.uptime")
        await Measurement.of { _ = clock.now }.print("  SystemClock.now")

        let cache = NSCache<NSURL, Box>()
        let name = try unwrap(NSURL(string: url.absoluteString))
        cache.setObject(Box(image), forKey: name, cost: image.byteCount)
        await Measurement.of { _ = cache.object(forKey: name) }.print("  NSCache.object(forKey:), for comparison")
        guard (try await loader.load(url)).source == .memory else { throw Unexpected() }
    }

    private final class Box {
        let image: DecodedImage
        init(_ image: DecodedImage) { self.image = image }
    }

    private struct Unexpected: Error {}

    private static func unwrap<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Unexpected() }
        return value
    }
}

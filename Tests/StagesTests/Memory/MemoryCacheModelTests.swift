import Foundation
import Pipeline
import PipelineTesting
import Stages
import Testing

@Suite("The memory cache, against a plain list")
struct MemoryCacheModelTests {
    /// `SOAK_SEEDS` in the environment sets how many; 100 otherwise.
    private static var seeds: UInt64 {
        ProcessInfo.processInfo.environment["SOAK_SEEDS"].flatMap { UInt64($0) } ?? 100
    }

    @Test("Order, bytes, count and removal are those of a list", arguments: [nil, 4])
    func model(countLimit: Int?) throws {
        let keys = try (0..<12).map { number in
            let request = ImageRequest(.dataURL("\(number % 6)"))
            let source = try #require(SourceKey(request))
            return VariantKey(source: source, request: request, list: BLAKE2bDigest(of: "\(number / 6)"))
        }
        for seed in 0..<Self.seeds {
            var random = SeededGenerator(seed: seed)
            let cache = MemoryCache(byteLimit: 300, countLimit: countLimit)
            // The most recently used last.
            var list: [(key: VariantKey, cost: Int)] = []
            let now = Date(timeIntervalSince1970: 1_772_366_400)
            for step in 0..<200 {
                let key = keys.randomElement(using: &random) ?? keys[0]
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<5:
                    let width = Int.random(in: 1...100, using: &random)
                    let product = LoadProduct.image(.filled(PixelSize(width: width, height: 1)))
                    cache.insert(MemoryEntry(product: product, validity: .unlimited), for: key, now: now)
                    list.removeAll { $0.key == key }
                    // Three bytes a pixel.
                    list.append((key, 3 * width))
                    while list.map(\.cost).reduce(0, +) > 300 || list.count > countLimit ?? .max { list.removeFirst() }
                case 5..<8:
                    let index = list.firstIndex { $0.key == key }
                    #expect((cache.entry(for: key, now: now) != nil) == (index != nil), "seed \(seed), step \(step)")
                    if let index { list.append(list.remove(at: index)) }
                case 8:
                    cache.remove(key.source)
                    list.removeAll { $0.key.source == key.source }
                default:
                    let limit = Int.random(in: 0...300, using: &random)
                    cache.trim(toBytes: limit)
                    while list.map(\.cost).reduce(0, +) > limit { list.removeFirst() }
                }
                #expect(cache.count == list.count, "seed \(seed), step \(step)")
                #expect(cache.byteCount == list.map(\.cost).reduce(0, +), "seed \(seed), step \(step)")
            }
        }
    }
}

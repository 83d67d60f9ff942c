import Foundation
import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("The resampler scales pixels with a Lanczos kernel as their rows come in")
struct ResamplerTests {
    private func scaled(_ pixels: [UInt8], _ plan: ResamplePlan, _ layout: PixelLayout) throws -> [UInt8] {
        try pixels.withUnsafeBufferPointer {
            try Resampler.scaled(
                try #require($0.baseAddress), plan, layout: layout, cancellation: WorkCancellation())
        }
    }

    private func noise(_ size: PixelSize, _ layout: PixelLayout) -> [UInt8] {
        var state: UInt32 = 7
        return (0..<size.width * size.height * layout.channelCount).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
    }

    private func bricks() async throws -> DecodedImage {
        try await SampleImage.decode(try Pictures.bytes("good/expected/bricks-color.png"))
    }

    static let sizes: [(PixelSize, PixelSize)] = [
        (PixelSize(width: 1, height: 97), PixelSize(width: 1, height: 10)),
        (PixelSize(width: 97, height: 1), PixelSize(width: 10, height: 1)),
        (PixelSize(width: 97, height: 1), PixelSize(width: 97, height: 1)),
        (PixelSize(width: 1, height: 1), PixelSize(width: 1, height: 1)),
        (PixelSize(width: 1, height: 1), PixelSize(width: 5, height: 3)),
        (PixelSize(width: 64, height: 48), PixelSize(width: 1, height: 1)),
        (PixelSize(width: 301, height: 7), PixelSize(width: 2, height: 6)),
        (PixelSize(width: 33, height: 31), PixelSize(width: 32, height: 30)),
        (PixelSize(width: 17, height: 5), PixelSize(width: 40, height: 13)),
        (PixelSize(width: 2000, height: 3), PixelSize(width: 3, height: 3)),
    ]

    @Test("A constant picture stays constant to the last bit, whatever its size", arguments: sizes)
    func constant(_ source: PixelSize, _ target: PixelSize) throws {
        for layout in [PixelLayout.gray, .rgb, .rgba] {
            for pixel in [[0, 0, 0, 255], [255, 255, 255, 255], [201, 77, 13, 255]] as [[UInt8]] {
                let pixel = Array(pixel.prefix(layout.channelCount))
                let pixels = Array((0..<source.width * source.height).map { _ in pixel }.joined())
                for reserve in [1.0, 2.5, 1e9] {
                    let result = try scaled(pixels, ResamplePlan(from: source, to: target, reserve: reserve), layout)
                    #expect(result == Array((0..<target.width * target.height).map { _ in pixel }.joined()))
                }
            }
        }
    }

    @Test("Half transparent pixels keep colour and transparency within a level")
    func translucent() throws {
        let source = PixelSize(width: 100, height: 70)
        for alpha in [1, 3, 17, 64, 128, 254] as [UInt8] {
            let pixels = Array((0..<7000).map { _ in [201, 77, 13, alpha] }.joined())
            let target = PixelSize(width: 33, height: 23)
            let result = try scaled(pixels, ResamplePlan(from: source, to: target, reserve: 2), .rgba)
            let tolerance = max(1, 64 / Int(alpha))
            for (index, expected) in [201, 77, 13].enumerated() {
                #expect(abs(Int(result[index]) - expected) <= tolerance, "\(alpha)")
            }
            #expect(result[3] == alpha)
        }
    }

    @Test("The mean of a picture is kept", arguments: [PixelLayout.gray, .rgb])
    func energy(_ layout: PixelLayout) throws {
        let source = PixelSize(width: 240, height: 180)
        // From 64 to 191: what overshoots stays within 8 bits.
        let pixels = noise(source, layout).map { 64 + $0 / 2 }
        let mean = Double(pixels.reduce(0) { $0 + Int($1) }) / Double(pixels.count)
        for (width, height) in [(80, 60), (31, 17), (239, 180), (13, 11)] {
            for reserve in [1.0, 2.5, 1e9] {
                let plan = ResamplePlan(from: source, to: PixelSize(width: width, height: height), reserve: reserve)
                let result = try scaled(pixels, plan, layout)
                let kept = Double(result.reduce(0) { $0 + Int($1) }) / Double(result.count)
                #expect(abs(kept - mean) < 0.6, "\(width)×\(height)")
            }
        }
    }

    @Test("Blocks alone give exact means")
    func exactMeans() throws {
        let source = PixelSize(width: 64, height: 48)
        let pixels = noise(source, .gray)
        // The kernel at scale one passes its source on as it is.
        let plan = ResamplePlan(from: source, to: PixelSize(width: 16, height: 12), reserve: 1)
        #expect(plan.block == 4)
        let result = try scaled(pixels, plan, .gray)
        for row in 0..<12 {
            for column in 0..<16 {
                var sum = 0
                for y in 0..<4 { for x in 0..<4 { sum += Int(pixels[(row * 4 + y) * 64 + column * 4 + x]) } }
                #expect(abs(Double(result[row * 16 + column]) - Double(sum) / 16) <= 0.52)
            }
        }
    }

    @Test("At the size of the source nothing changes", arguments: [PixelLayout.gray, .rgb])
    func identity(_ layout: PixelLayout) throws {
        let size = PixelSize(width: 37, height: 29)
        let pixels = noise(size, layout)
        #expect(try scaled(pixels, ResamplePlan(from: size, to: size, reserve: 2), layout) == pixels)
    }

    @Test(
        "The kernel alone gives Lanczos-3 to half a level of what floating point gives",
        arguments: [(16, 12), (21, 17), (43, 32), (5, 3), (63, 47), (80, 61)])
    func reference(_ width: Int, _ height: Int) async throws {
        let image = try await SampleImage.decode(
            try Pictures.bytes("good/expected/bricks-color.png"), maxPixelSize: PixelSize(square: 64))
        let target = PixelSize(width: width, height: height)
        let result = try scaled(image.pixels, ResamplePlan(from: image.size, to: target, reserve: 1e9), .rgb)
        let expected = lanczos(image, to: target)
        for index in result.indices { #expect(abs(Double(result[index]) - expected[index]) < 0.54) }
    }

    // Pillow 13's Image.resize with LANCZOS, which cuts off what overshoots once more than we do.
    @Test(
        "The kernel alone agrees with Pillow",
        arguments: [
            (40, 30, [(0, 0, [8, 144, 228]), (13, 15, [89, 9, 2]), (39, 29, [2, 38, 100]), (20, 7, [40, 24, 73])]),
            (
                53, 40,
                [(0, 0, [14, 161, 244]), (17, 20, [93, 9, 2]), (52, 39, [2, 38, 98]), (26, 10, [165, 18, 56])]
            ),
            (107, 80, [(0, 0, [13, 166, 247]), (35, 40, [91, 0, 5]), (53, 20, [150, 28, 73])]),
            (9, 7, [(0, 0, [11, 89, 156]), (3, 3, [79, 2, 16]), (8, 6, [10, 53, 103]), (4, 1, [68, 65, 110])]),
        ] as [(Int, Int, [(Int, Int, [Int])])])
    func pillow(_ width: Int, _ height: Int, _ pixels: [(Int, Int, [Int])]) async throws {
        let image = try await bricks()
        let target = PixelSize(width: width, height: height)
        let small = DecodedImage(
            size: target, layout: .rgb,
            pixels: try scaled(image.pixels, ResamplePlan(from: image.size, to: target, reserve: 1e9), .rgb))
        for (x, y, expected) in pixels {
            for (value, wanted) in zip(small.pixel(x, y), expected) { #expect(abs(value - wanted) <= 2) }
        }
    }

    @Test("Even on a picture that is all detail both qualities are near to the best")
    func decibels() async throws {
        let image = try await bricks()
        for side in [10, 17, 25, 33, 50] {
            let target = image.size.fitted(into: PixelSize(square: side))
            let expected = lanczos(image, to: target)
            for (quality, promised) in [(DecodeQuality.quality, 45.0), (.fast, 37)] {
                let plan = ResamplePlan(from: image.size, to: target, reserve: quality.blockReserve)
                let result = try scaled(image.pixels, plan, .rgb)
                let error = zip(result, expected).reduce(0) { $0 + pow(Double($1.0) - $1.1, 2) } / Double(result.count)
                let decibels = 10 * log10(255 * 255 / error)
                #expect(decibels > promised, "\(quality) at \(side)")
            }
        }
    }

    @Test("Scaling that is cancelled ends between two strips")
    func cancelled() throws {
        let cancellation = WorkCancellation()
        cancellation.cancel()
        let plan = ResamplePlan(from: 8, to: 4, reserve: 2)
        #expect(throws: CancellationError.self) {
            try noise(8, .gray).withUnsafeBufferPointer {
                try Resampler.scaled(
                    try #require($0.baseAddress), plan, layout: .gray, cancellation: cancellation)
            }
        }
    }

    /// Lanczos-3 in floating point, row by row and column by column, with the borders left out as Pillow does.
    private func lanczos(_ image: DecodedImage, to target: PixelSize) -> [Double] {
        func weights(_ count: Int, _ target: Int) -> [[Double]] {
            let scale = Double(count) / Double(target)
            return (0..<target).map { index in
                let row = (0..<count).map { position -> Double in
                    let x = (Double(position) + 0.5 - (Double(index) + 0.5) * scale) / max(1, scale) * .pi
                    return x == 0 ? 1 : abs(x) < 3 * .pi ? 3 * sin(x) * sin(x / 3) / (x * x) : 0
                }
                let sum = row.reduce(0, +)
                return row.map { $0 / sum }
            }
        }
        let (across, down) = (weights(image.width, target.width), weights(image.height, target.height))
        var result: [Double] = []
        for row in down {
            var line = [Double](repeating: 0, count: image.width * 3)
            for (y, weight) in row.enumerated() where weight != 0 {
                for x in line.indices { line[x] += weight * Double(image.pixels[y * line.count + x]) }
            }
            for weights in across {
                for channel in 0..<3 {
                    var sum = 0.0
                    for (x, weight) in weights.enumerated() where weight != 0 { sum += weight * line[x * 3 + channel] }
                    result.append(min(255, max(0, sum)))
                }
            }
        }
        return result
    }
}

import Foundation
import Pipeline
import Stages

/// Measures how long work continues after its cancellation: `benchmarks cancel [FILE | NAME...]`.
///
/// Each decode, encoding and transform of a large picture is cancelled at several moments. The worst one is compared
/// with the 50 ms promised for all but AVIF and HEIC. Work that a load leaves behind is printed next to it. Given
/// files, it only decodes those. Given parts of names, such as `encode` or `PNG`, it only measures cases whose names
/// contain one.
enum Cancellation {
    /// The moments of cancellation, as shares of the whole time.
    private static let moments = [0.02, 0.2, 0.45, 0.7, 0.92]

    static func run(_ words: [String]) async throws {
        print(
            "How long work continues after it is cancelled, the worst of \(moments.count) moments; 50 ms are allowed. CPU time, "
                + "with wall time in brackets:")
        let paths = words.filter { FileManager.default.fileExists(atPath: $0) }
        for path in paths { try await decode(URL(filePath: path), [nil, PixelSize(square: 300)]) }
        guard paths.isEmpty else { return }
        func isChosen(_ name: String) -> Bool {
            words.isEmpty || words.contains { name.localizedCaseInsensitiveContains($0) }
        }
        let photograph = URL(filePath: "Tests/Images/good/photo-12mp-baseline-420.jpg")
        let source = try await ImagePipeline {
            ReadInline()
            Decode()
            Resize(5700, enlarges: true)
        }.load(ImageRequest(.bytes([UInt8](try Data(contentsOf: photograph)))))
        guard let image = source.image else { return }
        print("  of \(image.size):")
        for stage in stages where isChosen(name(of: stage)) { try await process(image, name(of: stage), stage) }
        for (name, encode) in encodings where isChosen(name) { try await process(image, name, encode) }
        print("  of files:")
        for file in try CancellationFiles.all() {
            try await decode(file, [nil, PixelSize(square: 300)].filter { isChosen(name(of: file, $0)) })
        }
    }

    private static func name(of stage: any Stage) -> String { stage.signature ?? "\(stage)" }

    private static func name(of file: URL, _ box: PixelSize?) -> String {
        "decode \(file.lastPathComponent)\(box == nil ? "" : " to 300")"
    }

    private static let stages: [any Stage] = [
        Resize(7000), Resize(300), Crop(4000), Crop(4000, by: .entropy), Crop(4000, by: .attention), Trim(),
        Pad(to: 9000), Rotate(.quarter), Rotate(.half), Flip(.horizontal), Flip(.vertical), RoundCorners(radius: 800),
        CropCircle(), Blur(sigma: 2), Blur(sigma: 40), Sharpen(), Grayscale(), Adjust(brightness: 1.5), Adjust(hue: 90),
        Composite(DecodedImage(size: 2000, layout: .rgba, pixels: [UInt8](repeating: 128, count: 16_000_000))),
        Flatten(),
    ]

    private static let encodings: [(String, Encode)] = {
        let cases: [(String, ImageFormat, (inout EncodeOptions) -> Void)] = [
            ("encode JPEG", .jpeg, { _ in }), ("encode JPEG, progressive", .jpeg, { $0.jpeg.progressive = true }),
            ("encode PNG", .png, { _ in }), ("encode PNG, level 9", .png, { $0.png.compression = 9 }),
            ("encode PNG, 256 colours", .png, { $0.png.colors = 256 }),
            ("encode WebP", .webp, { _ in }),
            ("encode WebP, lossless", .webp, { ($0.webp.lossless, $0.webp.effort) = (true, 2) }),
            ("encode WebP, lossless, effort 4", .webp, { $0.webp.lossless = true }),
            ("encode GIF", .gif, { _ in }), ("encode TIFF", .tiff, { _ in }),
            ("encode TIFF, LZW", .tiff, { $0.tiff.compression = .lzw }),
            ("encode TIFF, not packed", .tiff, { $0.tiff.compression = .none }),
        ]
        return cases.map { name, format, change in
            var options = EncodeOptions()
            change(&options)
            return (name, Encode(format, options: options))
        }
    }()

    private static func decode(_ file: URL, _ boxes: [PixelSize?]) async throws {
        guard !boxes.isEmpty else { return }
        let bytes = [UInt8](try Data(contentsOf: file))
        let limits = ImageLimits(pixels: .max, encodedBytes: .max, frames: 100, memory: .max, time: nil)
        let decode = Decode(
            codecs: .standard.adding(.svg).adding(.jxl), limits: limits, budget: MemoryBudget(bytes: .max))
        for box in boxes {
            let sized = ImageRequest(.bytes(bytes), maxPixelSize: box)
            try await measure(name(of: file, box)) {
                try await ImagePipeline {
                    ReadInline()
                    decode
                }.load(sized)
            }
        }
    }

    private static func process(_ image: DecodedImage, _ name: String, _ stage: any Stage) async throws {
        let pipeline = try ImagePipeline(validating: Chain([Supply(image: image), stage]))
        try await measure(name) { try await pipeline.load(ImageRequest(.bytes([]))) }
    }

    private static func measure(
        _ name: String, _ work: @escaping @Sendable () async throws -> LoadResponse
    ) async throws {
        let (whole, _) = try await cancelled(after: .seconds(60), work)
        var worst = Lateness(wall: .zero, work: .zero)
        var (place, left) = (0.0, Duration.zero)
        for moment in moments {
            let (_, late) = try await cancelled(after: whole * moment, work)
            left = max(left, try await rest())
            guard let late else { continue }
            if late.work > worst.work { (worst, place) = (late, moment) }
        }
        let text = String(
            format: "%6.1f ms (%6.1f) of %6.0f ms, at %3.0f %%", worst.work / .milliseconds(1),
            worst.wall / .milliseconds(1), whole / .milliseconds(1), place * 100)
        let rest = left > .milliseconds(5) ? String(format: "; left behind: %.0f ms", left / .milliseconds(1)) : ""
        print("  \(worst.work > .milliseconds(50) ? "LATE" : "    ") \(text)  \(name)\(rest)")
        fflush(nil)
    }

    /// Waits until the process is idle, and returns the CPU time that it still used.
    private static func rest() async throws -> Duration {
        let start = Thumbnails.cpuSeconds()
        while true {
            let before = Thumbnails.cpuSeconds()
            try await Task.sleep(for: .milliseconds(10))
            let now = Thumbnails.cpuSeconds()
            if now - before < 0.005 { return .seconds(before - start) }
        }
    }

    /// How long work continued, in wall time and in CPU time, which other programs on the machine don't affect.
    private struct Lateness {
        let wall: Duration
        let work: Duration
    }

    /// Returns how long the work took, and how long it continued after its cancellation; `nil` if it ended before.
    private static func cancelled(
        after delay: Duration, _ work: @escaping @Sendable () async throws -> LoadResponse
    ) async throws -> (Duration, Lateness?) {
        let clock = SystemClock()
        let start = clock.uptime
        let task = Task { try await work() }
        let watch = Task {
            try await Task.sleep(for: delay)
            let now = (clock.uptime, Thumbnails.cpuSeconds())
            task.cancel()
            return now
        }
        let result = await task.result
        let (end, used) = (clock.uptime, Thumbnails.cpuSeconds())
        watch.cancel()
        if case .failure(let error) = result, !(error is CancellationError) { throw error }
        // Work that succeeds despite its cancellation counts too.
        guard let (then, before) = try? await watch.value else { return (end - start, nil) }
        return (end - start, Lateness(wall: end - then, work: .seconds(used - before)))
    }
}

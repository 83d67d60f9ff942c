import FoundationEssentials
import Glibc
import Pipeline
import ProcessMemory
import Stages

/// Makes thumbnails of one file repeatedly, or of several in turn, and prints the costs of one. `make bench` runs it,
/// and other programs with the same task.
///
/// `benchmarks thumbnails QUALITY WIDTHxHEIGHT ENCODING REPEATS CONCURRENCY OUTPUT FILE...`, where QUALITY is `quality`
/// or `fast`, and ENCODING is `pixels`, `jpeg` (80) or `png` (level 6, no filter). The last picture is written to
/// OUTPUT, as PNG if ENCODING is `pixels`, unless OUTPUT is `-`.
enum Thumbnails {
    static func run(_ words: [String]) async throws {
        guard words.count >= 7, let quality = DecodeQuality(rawValue: words[0]), let repeats = Int(words[3]),
            let concurrency = Int(words[4]),
            let box = size(words[1])
        else {
            print("benchmarks thumbnails QUALITY WIDTHxHEIGHT ENCODING REPEATS CONCURRENCY OUTPUT FILE...")
            exit(2)
        }
        let files = try words[6...].map { [UInt8](try Data(contentsOf: URL(filePath: $0))) }
        let requests = files.map { ImageRequest(.bytes($0), maxPixelSize: box) }
        let threads = BlockingThreads(name: "pixels", count: concurrency)
        let pipeline = pipeline(quality, words[2], threads)

        let idle = ProcessMemory.resident
        var response = try await pipeline.load(requests[0])
        let peak = ProcessMemory.peak
        for request in requests { response = try await pipeline.load(request) }

        let (cpu, wall) = (cpuSeconds(), SystemClock().uptime)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<concurrency {
                group.addTask {
                    for index in 0..<repeats {
                        for request in requests { _ = try await pipeline.load(request) }
                        _ = (worker, index)
                    }
                }
            }
            try await group.waitForAll()
        }
        let count = Double(repeats * concurrency * requests.count)
        let elapsed = (SystemClock().uptime - wall) / .seconds(1)
        let used = cpuSeconds() - cpu
        if words[5] != "-" {
            let bytes = try await output(of: response)
            try Data(bytes).write(to: URL(filePath: words[5]))
        }
        print(
            """
            {"cpu_ms": \(used / count * 1000), "rate": \(count / elapsed), "peak_kb": \((peak - idle) * 1024), \
            "bytes": \(response.encoded?.bytes.count ?? 0)}
            """)
    }

    private static func pipeline(
        _ quality: DecodeQuality, _ encoding: String, _ threads: BlockingThreads
    ) -> ImagePipeline {
        var options = EncodeOptions()
        options.png.filter = .none
        return ImagePipeline {
            ReadInline()
            Decode(limits: ImageLimits(pixels: 200_000_000), quality: quality, threads: threads)
            Downscale(threads: threads)
            if encoding == "jpeg" { Encode(.jpeg, options: options, threads: threads) }
            if encoding == "png" { Encode(.png, options: options, threads: threads) }
        }
    }

    private static func output(of response: LoadResponse) async throws -> [UInt8] {
        if let encoded = response.encoded { return encoded.bytes }
        guard let image = response.image else { return [] }
        let supply = Supply(image: image)
        return try await ImagePipeline {
            supply
            Encode(.png)
        }.load(ImageRequest(.bytes([]))).encoded?.bytes ?? []
    }

    private static func size(_ text: String) -> PixelSize? {
        let sides = text.split(separator: "x").compactMap { Int($0) }
        return sides.count == 2 ? PixelSize(width: sides[0], height: sides[1]) : nil
    }

    static func cpuSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Starts a list with a decoded picture.
struct Supply: Stage {
    let image: DecodedImage
    let accepts: Phases = .empty
    let produces: Phases = .decoded

    func run(_ load: inout Load) async throws -> Outcome {
        load.advance(to: .decoded(image), from: .inline)
        return .done
    }
}

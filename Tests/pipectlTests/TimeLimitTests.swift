import Foundation
import Pipeline
import PipelineTesting
import Stages
import Testing

@testable import PipelineCommand

@Suite("The time of one image", .timeLimit(.minutes(5)))
struct TimeLimitTests {
    /// A header that takes its time by a manual clock.
    private struct Slow: ImageDecoding {
        let clock: ManualClock
        let (header, decoding): (Duration, Duration)
        let headers = Lock(0)

        func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
            headers.withLock { $0 += 1 }
            clock.advance(by: header)
            try cancellation.check()
            var found = ImageHeader(format: .png, storedSize: PixelSize(square: 1))
            found.frames = 3
            return found
        }

        func decode(
            _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions,
            cancellation: WorkCancellation
        ) throws -> DecodedImage {
            clock.advance(by: decoding)
            try cancellation.check()
            return DecodedImage(size: PixelSize(square: 1), layout: .gray, pixels: [7])
        }
    }

    @Test(
        "The estimate of memory and the decode read the header once, and share the limit",
        arguments: [(31, 0, true), (20, 20, true), (20, 9, false)], [1, 500])
    func estimate(_ time: (header: Int, decoding: Int, isLate: Bool), _ frames: Int) async throws {
        let clock = ManualClock()
        let slow = Slow(clock: clock, header: .seconds(time.header), decoding: .seconds(time.decoding))
        let codec = ImageCodec(.png, extensions: ["png"], decoder: slow) { _ in true }
        // As many frames as are kept would allow as many times the limit, so only one is.
        let limits = ImageLimits(pixels: frames == 1 ? 50_000_000 : 1, frames: frames)
        let list = ImagePipeline(clock: clock) {
            ReadInline()
            WithinMemory(MemoryBudget(bytes: .max), cutsFrames: true) { Decode(codecs: [codec], limits: limits) }
        }
        do {
            #expect(try await list.load(ImageRequest(.bytes([1]))).image != nil)
            #expect(!time.isLate)
        } catch let error as LoadError {
            #expect(error.code == .tooMuchTime && time.isLate)
        }
        #expect(slow.headers.withLock(\.self) == 1)
    }

    @Test(
        "Every verb that reads images keeps to --max-time, with what it writes too",
        arguments: [
            "thumb a.jpg -o out.png", "convert a.jpg out.avif", "run a.jpg --ops blur=2 -o out.jpg",
            "batch a.jpg -o out", "srcset a.jpg -w 20 -f webp -o 'out-{w}.webp'", "montage a.jpg -o out.jpg",
            "strip a.jpg -o out.jpg", "info a.jpg", "info a.jpg --hash", "compare a.jpg a.jpg",
            "load a.jpg -o out.png",
        ])
    func verbs(_ line: String) async throws {
        let pipectl = try Pipectl()
        try pipectl.add("good/jpeg-progressive-444.jpg", as: "a.jpg")
        let result = try await pipectl.shell("pipectl \(line) --max-time 0.000000001; echo status $?; ls")
        #expect(result.text.contains(line.hasPrefix("compare") ? "status 2" : "status 1"), "\(result.text)")
        #expect(result.errors.contains("Raise it with --max-time."), "\(result.errors)")
        #expect(!result.text.contains("out.") && !result.text.contains("out-"), "\(result.text)")
        let wrong = try await pipectl.shell("pipectl \(line) --max-time 0")
        #expect(wrong.status == 2 && wrong.errors.contains("--max-time takes more than 0."))
    }
}

import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("An encoder stops when nobody waits for its file any more")
struct EncodeCancellationTests {
    /// Long in both directions, with something on it.
    private static let picture = DecodedImage(
        size: PixelSize(width: 1500, height: 1200), layout: .rgb,
        pixels: (0..<1500 * 1200 * 3).map { UInt8(truncatingIfNeeded: $0 / 9 ^ $0 / 5000) })

    /// What is written.
    struct Case: CustomTestStringConvertible {
        let format: ImageFormat
        var change: @Sendable (inout EncodeOptions) -> Void = { _ in }
        var testDescription: String { Encode(format, options: options).signature ?? "" }

        var options: EncodeOptions {
            var options = EncodeOptions()
            change(&options)
            return options
        }
    }

    @Test("A load leaves what may become AVIF, PNG or WebP, and waits for any other encoder's end")
    func leaves() {
        for format in [ImageFormat.jpeg, .gif, .tiff] { #expect(!Encode(format).isLeft) }
        for format in [ImageFormat.avif, .png, .webp] { #expect(Encode(format).isLeft) }
        #expect(Encode(AcceptedFormats(accept: "image/webp")).isLeft)
        #expect(Encode(AcceptedFormats(accept: "image/jpeg")).isLeft, "a transparent picture becomes PNG all the same")
        #expect(!Encode(AcceptedFormats(accept: nil, codecs: [.jpeg])).isLeft)
    }

    @Test(
        "A load to AVIF, PNG or WebP that is cancelled ends with CancellationError, and its thread gets free again",
        arguments: [ImageFormat.avif, .png, .webp])
    func left(_ format: ImageFormat) async throws {
        let threads = BlockingThreads(name: "test", count: 1)
        let load = Task {
            try await SampleImage.process(Self.picture) { Encode(format, options: EncodeOptions(), threads: threads) }
        }
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        #expect(try await threads.run { _ in 7 } == 7)
    }

    @Test(
        "An encoder that is told to stop asks hardly ever again",
        arguments: [
            Case(format: .png), Case(format: .png) { $0.png.compression = 9 }, Case(format: .tiff),
            Case(format: .webp), Case(format: .tiff) { $0.tiff.compression = .lzw },
            Case(format: .tiff) { $0.tiff.compression = .none },
            Case(format: .png) { $0.png.colors = 256 }, Case(format: .png) { $0.png = .init(colors: 16, dither: 0) },
            Case(format: .gif), Case(format: .gif) { $0.gif = .init(colors: 4, dither: 0, effort: 1) },
        ])
    func stopsSoon(_ example: Case) throws {
        func encode(patience: Int) throws -> Int {
            let (looks, isStopped) = try ImpatientClock.looks(patience: patience) { cancellation in
                _ = try example.options.file(of: Self.picture, example.format, cancellation)
            }
            #expect(isStopped || looks <= patience)
            return looks
        }
        let all = try encode(patience: .max)
        #expect(all >= 10)
        for share in 0..<4 {
            let patience = 1 + (all - 2) * share / 4
            // The first look finds it out, the second says why.
            #expect(try encode(patience: patience) <= patience + 3)
        }
    }
}

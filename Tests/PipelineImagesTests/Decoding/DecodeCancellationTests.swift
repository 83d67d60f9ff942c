import CVips
import Foundation
import Pipeline
import PipelineImages
import TestFixtures
import Testing

@Suite("A decode stops when nobody waits for it any more")
struct DecodeCancellationTests {
    @Test("A decode that is cancelled before it begins never begins")
    func cancelledBefore() async throws {
        let bytes = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await SampleImage.decode(bytes)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(
        "A decode that is cancelled while it runs ends with CancellationError, whatever the decoder makes of it",
        arguments: ["photo-12mp-baseline-420.jpg", "webp-lossy.webp", "gif-animated.gif"])
    func cancelledDuring(_ name: String) async throws {
        let bytes = try Pictures.bytes("good/\(name)")
        let (began, reports) = AsyncStream.makeStream(of: Void.self)
        let codecs = ImageCodecs(
            [ImageCodec.jpeg, .webp, .gif].map { $0.decoding(with: Late(inner: $0.decoder, began: reports)) })
        let task = Task { try await SampleImage.decode(bytes, with: Decode(codecs: codecs)) }
        for await _ in began { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(
        "A decoder that is told to stop asks hardly ever again",
        arguments: [
            "photo-12mp-baseline-420.jpg", "jpeg-progressive-444.jpg", "jpeg-cmyk-icc.jpg", "png-basi2c08.png",
            "expected/bricks-color.png", "webp-lossy.webp", "webp-lossless.webp", "webp-animated.webp",
            "gif-animated.gif", "tiff-jpeg-tiled.tif", "tiff-deflate-strip.tif", "bmp-rgb24.bmp",
        ])
    func stopsSoon(_ name: String) async throws {
        let bytes = try Pictures.bytes("good/\(name)")
        let format = try #require(ImageCodecs.known.format(of: bytes))
        let decoder = try #require(ImageCodecs.standard.codec(for: format)?.decoder)
        let header = try decoder.header(of: bytes, cancellation: WorkCancellation())
        func decode(patience: Int) throws -> Int {
            let (looks, isStopped) = try ImpatientClock.looks(patience: patience) { cancellation in
                _ = try decoder.decode(
                    bytes, header: header, box: nil, options: DecodeOptions(frames: 4), cancellation: cancellation)
            }
            #expect(isStopped || looks <= patience)
            return looks
        }
        let all = try decode(patience: .max)
        #expect(all >= 2)
        for share in 0..<4 {
            let patience = 1 + (all - 2) * share / 4
            // Some look more than once where they stop; libtiff asks for each tag of a directory.
            #expect(try decode(patience: patience) <= patience + 40)
        }
    }

    @Test("libvips is asked between strips whether to go on, and stops at once")
    func stopsBetweenStrips() async throws {
        let photograph = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        let bytes = try #require(
            try await SampleImage.load(photograph, maxPixelSize: 1500) {
                Decode()
                Encode(.png)
            }.encoded?.bytes)
        let questions = Questions(patience: 40)
        let context = Unmanaged.passUnretained(questions).toOpaque()
        let cancellation = cvips_cancellation(
            is_cancelled: { Unmanaged<Questions>.fromOpaque($0).takeUnretainedValue().isAsked() }, context: context)
        try withExtendedLifetime(questions) {
            try bytes.withUnsafeBufferPointer { bytes in
                var header = cvips_header()
                var failure = cvips_failure()
                let options = cvips_options(loader: CVIPS_PNG, allow_damage: false)
                let start = try #require(bytes.baseAddress)
                let image = try #require(cvips_open(start, bytes.count, options, cancellation, &header, &failure))
                defer { cvips_close(image) }
                var pixels = [UInt8](repeating: 0, count: Int(header.width) * 32 * 3)
                let height = header.height
                let read = stride(from: Int32(0), to: height, by: 32).allSatisfy { top in
                    cvips_read_rows(image, top, min(32, height - top), &pixels, &failure)
                }
                #expect(!read)
            }
        }
        // One refusal ends it: of the file's reads and strips hardly any is asked for after it.
        #expect(questions.count >= 40)
        #expect(questions.count < 45)
    }
}

/// Decodes once somebody has cancelled: what a cancellation in the middle of the work looks like.
private struct Late: ImageDecoding {
    let inner: any ImageDecoding
    var canBeStopped: Bool { inner.canBeStopped }
    let began: AsyncStream<Void>.Continuation

    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try inner.header(of: bytes, cancellation: cancellation)
    }

    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        began.yield()
        // On a thread of ours, which may wait.
        while !cancellation.isCancelled {}
        return try inner.decode(bytes, header: header, box: box, options: options, cancellation: cancellation)
    }
}

/// Says "go on" this many times.
///
/// Unchecked, and safe: libvips asks on the thread that called it, which is the test's.
private final class Questions: @unchecked Sendable {
    private let patience: Int
    private(set) var count = 0

    init(patience: Int) { self.patience = patience }

    func isAsked() -> Bool {
        count += 1
        return count >= patience
    }
}

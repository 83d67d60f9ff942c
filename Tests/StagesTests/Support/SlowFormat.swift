import Pipeline
import PipelineTesting
import Stages

/// A format whose work takes as long as the test says, by a manual clock. Its files begin with `slow`.
struct SlowFormat: Sendable {
    static let file = Array("slow file".utf8)
    static let format = ImageFormat(rawValue: "image/x-slow")

    let clock: ManualClock
    /// What reading a header, decoding and encoding take.
    var header = Duration.zero
    var decoding = Duration.zero
    var encoding = Duration.zero
    /// Whether these ignore their cancellation, and take as long as ``barrier`` is closed, in the step that is counted.
    var stuck: Step?
    let headers = Counter()
    let decodes = Counter()
    let encodes = Counter()
    let barrier = Barrier()

    enum Step { case header, decode, encode }

    init(_ clock: ManualClock) { self.clock = clock }

    var codec: ImageCodec {
        ImageCodec(
            Self.format, extensions: ["slow"], decoder: Decoder(format: self), encoder: Encoder(format: self)
        ) { $0.starts(with: "slow".utf8) }
    }

    private func pass(_ step: Step, _ counter: Counter, _ time: Duration, _ cancellation: WorkCancellation) throws {
        counter.increment()
        if stuck == step { return barrier.wait() }
        clock.advance(by: time)
        try cancellation.check()
    }

    private struct Decoder: ImageDecoding {
        let format: SlowFormat
        var canBeStopped: Bool { format.stuck == nil }

        func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
            try format.pass(.header, format.headers, format.header, cancellation)
            return ImageHeader(format: SlowFormat.format, storedSize: PixelSize(square: 10))
        }

        func decode(
            _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions,
            cancellation: WorkCancellation
        ) throws -> DecodedImage {
            try format.pass(.decode, format.decodes, format.decoding, cancellation)
            return DecodedImage(size: PixelSize(square: 10), layout: .grey, pixels: [UInt8](repeating: 7, count: 100))
        }
    }

    private struct Encoder: ImageEncoding {
        struct Options: Hashable, Sendable {}

        let format: SlowFormat
        let defaults = Options()
        var canBeStopped: Bool { format.stuck == nil }

        func values(of options: Options) -> [(name: String, value: String)] { [] }

        func encode(
            _ image: DecodedImage, quality: Int, options: Options, metadata: EmbeddedMetadata,
            cancellation: WorkCancellation
        ) throws -> [UInt8] {
            try format.pass(.encode, format.encodes, format.encoding, cancellation)
            return SlowFormat.file
        }
    }

    /// A transform that takes a while.
    struct Transform: PixelTransform {
        let clock: ManualClock
        let time: Duration
        var signature: String? { "slow" }

        func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
            clock.advance(by: time)
            try cancellation.check()
            return image
        }
    }
}

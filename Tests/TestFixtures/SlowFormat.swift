package import Pipeline
package import PipelineImages
package import PipelineTesting

/// A format whose work takes as long as the test says, by a manual clock. Its files begin with `slow`.
package struct SlowFormat: Sendable {
    package static let file = Array("slow file".utf8)
    package static let format = ImageFormat(rawValue: "image/x-slow")

    package let clock: ManualClock
    /// What reading a header, decoding and encoding take.
    package var header = Duration.zero
    package var decoding = Duration.zero
    package var encoding = Duration.zero
    /// Whether these ignore their cancellation, and take as long as ``barrier`` is closed, in the step that is counted.
    package var stuck: Step?
    package let headers = Counter()
    package let decodes = Counter()
    package let encodes = Counter()
    package let barrier = Barrier()

    package enum Step { case header, decode, encode }

    package init(_ clock: ManualClock) { self.clock = clock }

    package var codec: ImageCodec {
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
            return DecodedImage(size: PixelSize(square: 10), layout: .gray, pixels: [UInt8](repeating: 7, count: 100))
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
    package struct Transform: PixelTransform {
        private let clock: ManualClock
        private let time: Duration
        package var signature: String? { "slow" }

        package init(clock: ManualClock, time: Duration) { (self.clock, self.time) = (clock, time) }

        package func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
            clock.advance(by: time)
            try cancellation.check()
            return image
        }
    }
}

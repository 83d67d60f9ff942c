import Pipeline
import Testing

@testable import PipelineImages

@Suite("A decoder that is confined")
struct ConfinedDecoderTests {
    /// What it says of itself is nowhere the default.
    private struct Unusual: ImageDecoding {
        let prepared = Lock(false)
        let canBeStopped = false
        let showsBeginnings = true

        func prepare() { prepared.withLock { $0 = true } }
        func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
            throw CancellationError()
        }
        func decode(
            _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions,
            cancellation: WorkCancellation
        ) throws -> DecodedImage { throw CancellationError() }
    }

    @Test("says of itself what the decoder inside says")
    func passesOn() {
        let inner = Unusual()
        let confined = ConfinedDecoder(inner)
        #expect(!confined.canBeStopped)
        #expect(confined.showsBeginnings)
        confined.prepare()
        #expect(inner.prepared.withLock { $0 })
    }
}

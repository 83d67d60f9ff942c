import Foundation
import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineIsolation

@Suite("A pool that is started when it is needed")
struct PoolOnDemandTests {
    @Test("is tried again ten seconds after it couldn't be started, and images stay in the program until then")
    func retry() async throws {
        let folder = try TemporaryFolder()
        let (clock, helper) = (ManualClock(), folder.path + "/pipeline-decoder")
        let pool = PoolOnDemand(helper: helper, clock: clock)
        let (may, mustNot) = (
            ImageCodec.png.confined(by: pool, mayStay: true), ImageCodec.png.confined(by: pool, mayStay: false)
        )
        let png = Picture.png(PixelSize(square: 3))
        func decode(_ codec: ImageCodec) async throws -> PixelSize {
            try await DecodedImage(decoding: png, codecs: [codec]).size
        }
        #expect(try await decode(may) == PixelSize(square: 3))
        let error = await #expect(throws: LoadError.self) { try await decode(mustNot) }
        #expect(error?.code == .refused)
        #expect(may.decoder.remote?.isFullyConfined == false)
        try FileManager.default.createSymbolicLink(
            atPath: helper, withDestinationPath: Corpus.helper("pipeline-decoder"))
        clock.advance(by: .seconds(9))
        await #expect(throws: LoadError.self) { try await decode(mustNot) }
        clock.advance(by: .seconds(1))
        #expect(try await decode(mustNot) == PixelSize(square: 3))
        #expect(may.decoder.remote?.isFullyConfined == true)
    }

    @Test("is refused to a helper that starts a thread too early, since it can't fork")
    func threads() async throws {
        let folder = try TemporaryFolder()
        let helper = folder.path + "/threaded"
        try FileManager.default.copyItem(atPath: Corpus.helper("EscapingDecoder"), toPath: helper)
        let error = await #expect(throws: LoadError.self) { try await DecoderPool(helper: helper) }
        #expect(error?.message.contains("starts threads") == true)
    }
}

import Pipeline
import PipelineTesting
import Testing

@testable import PipelineImages

@Suite("What a format can't hold is written within its limits or refused by name")
struct ExtremeValuesTests {
    @Test("A WebP's frames show for 4.7 hours at most, however long they are together")
    func longDelays() async throws {
        // 2^31 ms are exceeded by all together.
        let frames = (0..<150).map { number in
            DecodedImage.Frame(
                pixels: [UInt8](repeating: UInt8(number), count: 12),
                delay: number == 1 ? .seconds(1 << 30) : .seconds(16_000))
        }
        let image = DecodedImage(size: 2, layout: .rgb, frames: frames)
        let file = try await EncodedImage(encoding: image, as: .webp)
        let limits = ImageLimits(frames: 200)
        let again = try await DecodedImage(decoding: file.bytes, limits: limits)
        #expect(again.frames.count == 150)
        #expect(again.frames[1].delay == .milliseconds((1 << 24) - 1))
        #expect(again.frames.map(\.delay).filter { $0 == .seconds(16_000) }.count == 149)
    }

    @Test("An AVIF's frame shows for 49 days at most")
    func longestDelay() async throws {
        let frames = [5_000_000, 1].map { seconds in
            DecodedImage.Frame(pixels: [UInt8](repeating: UInt8(seconds & 255), count: 192), delay: .seconds(seconds))
        }
        let image = DecodedImage(size: 8, layout: .rgb, frames: frames)
        let file = try await EncodedImage(encoding: image, as: .avif)
        let again = try await DecodedImage(decoding: file.bytes, limits: ImageLimits(frames: 2))
        #expect(again.frames.map(\.delay) == [.milliseconds(UInt32.max), .seconds(1)])
    }

    @Test("A JPEG's profile fits into 255 segments, and a longer one is refused")
    func longProfile() throws {
        let image = DecodedImage(size: 2, layout: .rgb, pixels: [UInt8](repeating: 7, count: 12))
        let most = 255 * 65_519
        let whole = [UInt8](repeating: 1, count: most)
        let file = try EncodeOptions().file(of: image, .jpeg, metadata: EmbeddedMetadata(profile: whole))
        #expect(file.count > most)
        let error = #expect(throws: LoadError.self) {
            try EncodeOptions().file(of: image, .jpeg, metadata: EmbeddedMetadata(profile: whole + [1]))
        }
        #expect(error?.code == .unencodable)
        #expect(error?.message.contains("\(most)") == true)
    }
}

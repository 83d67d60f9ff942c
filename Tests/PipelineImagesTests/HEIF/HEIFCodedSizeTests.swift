import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("A HEIF file's bitstreams are held against the limits, not only its container")
struct HEIFCodedSizeTests {
    private func picture(_ bytes: [UInt8]) throws -> HEIFPicture {
        // Damaged files may be of no format at all.
        try HEIFStill(bytes, format: .heic, cancellation: WorkCancellation()).picture
    }

    /// The file with every size that its container names replaced.
    private func lying(_ bytes: [UInt8], _ side: UInt8) -> [UInt8] {
        var bytes = bytes
        for index in bytes.indices.dropLast(16) where bytes[index...].starts(with: "ispe".utf8) {
            bytes.replaceSubrange(index + 8..<index + 16, with: [0, 0, 0, side, 0, 0, 0, side])
        }
        return bytes
    }

    @Test(
        "An honest file's bitstream has the size that its container names",
        arguments: [
            ("good/avif-photo.avif", PixelSize(width: 403, height: 302)),
            ("good/avif-alpha-irot.avif", PixelSize(width: 512, height: 256)),
            ("good/heic-128.heif", PixelSize(width: 128, height: 128)),
        ])
    func honest(_ path: String, _ size: PixelSize) throws {
        #expect(try picture(try Pictures.bytes(path)).codedSize == size)
    }

    @Test(
        "A file whose container claims less than its bitstream holds is refused by the bitstream's header",
        arguments: [("good/avif-photo.avif", "403×302"), ("good/heic-128.heif", "128×128")])
    func lying(_ path: String, _ size: String) async throws {
        let bytes = lying(try Pictures.bytes(path), 8)
        let error = try await #require(throws: LoadError.self) {
            try await SampleImage.decode(bytes, with: Decode(limits: ImageLimits(pixels: 10_000)))
        }
        #expect(error.code == .tooManyPixels)
        #expect(error.message.contains(size))
    }

    /// Bytes of bits, which are written as 0 and 1.
    private func bytes(_ bits: String) -> [UInt8] {
        let bits = bits.filter { $0 != " " }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            let byte = bits.dropFirst(start).prefix(8)
            return UInt8(byte + String(repeating: "0", count: 8 - byte.count), radix: 2) ?? 0
        }
    }

    @Test(
        "An AV1 frame that has a size of its own counts with the largest that it can have",
        arguments: [
            // A key frame that is shown, one that isn't, a switch frame, one shown again, and one that is cut off.
            ("0 00 1 0 0 0", 8), ("0 00 1 0 0 1", 65536), ("0 00 1 0 1 0 1", 65536), ("0 00 0 0 1 0 0 1", 65536),
            ("0 11 1", 65536), ("1 000", 8), ("", 65536),
        ])
    func frameSizeOverride(_ frame: String, _ side: Int) throws {
        // Eight pixels a side, in numbers of 16 bits; whether it shows a screen is left to each frame.
        let size = "1111 1111 0000000000000111 0000000000000111"
        let sequence = bytes("000 0 0 0 0 00000 000000000000 00000 \(size) 0 0000000 0 1 1")
        func unit(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] { [type << 3 | 2, UInt8(payload.count)] + payload }
        let configuration = [0x81, 0, 0, 0] + unit(1, sequence)
        for data in [unit(6, bytes(frame)), unit(1, sequence) + unit(3, bytes(frame))] {
            var budget = 100
            let coded = HEIFCodedSize(data[...], .av1, configuration: configuration[...], budget: &budget)
            #expect(coded.held == PixelSize(square: side))
            #expect(coded.frames == 1)
        }
    }

    @Test("Any damaged file gives a result", arguments: ["good/avif-alpha-irot.avif", "good/heic-128.heif"])
    func damaged(_ path: String) throws {
        let bytes = try Pictures.bytes(path)
        for index in bytes.indices.prefix(700) {
            for value: UInt8 in [0, 1, 0x7f, 0x80, 0xff] {
                var damaged = bytes
                damaged[index] = value
                _ = try? picture(damaged)
            }
        }
        for length in 0..<min(700, bytes.count) { _ = try? picture(Array(bytes.prefix(length))) }
    }
}

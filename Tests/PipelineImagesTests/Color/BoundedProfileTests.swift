import CVips
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

/// LittleCMS can't be stopped: what a profile makes it do has to be known before.
@Suite("A colour profile that would cost more than it is worth counts as absent", .timeLimit(.minutes(5)))
struct BoundedProfileTests {
    private func isBounded(_ profile: [UInt8]) -> Bool {
        profile.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { cvips_is_bounded_profile($0, buffer.count) } ?? false
        }
    }

    /// A profile for RGB with tags of one's own.
    private func profile(_ tags: [(name: String, data: [UInt8])], space: String = "RGB ") -> [UInt8] {
        var header = Array(ICCProfile.sRGB.prefix(128))
        header.replaceSubrange(16..<20, with: space.utf8)
        var place = 132 + 12 * tags.count
        var (table, data): ([UInt8], [UInt8]) = (tags.count.bigEndian(4), [])
        for tag in tags {
            table += Array(tag.name.utf8) + place.bigEndian(4) + tag.data.count.bigEndian(4)
            data += tag.data
            place += tag.data.count
        }
        let bytes = header + table + data
        return bytes.count.bigEndian(4) + bytes.dropFirst(4)
    }

    /// A pipeline of elements that share their bytes.
    private func pipeline(_ count: Int) -> [UInt8] {
        let matrix: [UInt8] = Array("matf".utf8) + [0, 0, 0, 0, 0, 3, 0, 3] + [UInt8](repeating: 0, count: 48)
        let start = 16 + 8 * count
        var bytes = Array("mpet".utf8) + [0, 0, 0, 0, 0, 3, 0, 3] + count.bigEndian(4)
        for _ in 0..<count { bytes += start.bigEndian(4) + matrix.count.bigEndian(4) }
        return bytes + matrix
    }

    @Test("The profiles of photographs, displays and printers are let through")
    func honest() throws {
        #expect(isBounded(ICCProfile.sRGB))
        for name in [
            "jpeg-icc-display-p3.jpg", "jpeg-cmyk-icc.jpg", "jpeg-exif-xmp-icc.jpg", "png-icc-rec2020.png",
            "webp-lossy.webp",
        ] {
            let bytes = try Pictures.bytes("good/\(name)")
            let format = try #require(ImageCodecs.known.format(of: bytes))
            let found = try ImageCodecs.metadata(of: bytes, format).profile
            if !found.isEmpty { #expect(isBounded(found), "\(name)") }
        }
    }

    @Test(
        "Twenty thousand elements in 619 bytes of a PNG, and in other formats, hold nothing up",
        arguments: [1000, 20_000])
    func elements(_ count: Int) async throws {
        let endless = profile([("D2B0", pipeline(count)), ("A2B0", pipeline(count)), ("B2A0", pipeline(count))])
        #expect(!isBounded(endless))
        let gray = DecodedImage(
            size: PixelSize(square: 16), layout: .rgb, pixels: [UInt8](repeating: 99, count: 16 * 16 * 3))
        let converted = try gray.converted(
            from: endless, ImageHeader(format: .png, storedSize: 1), cancellation: WorkCancellation())
        #expect(converted.pixels == gray.pixels)
    }

    @Test("Inks with such a profile are mixed as those without one")
    func inks() async throws {
        let bytes = try Pictures.bytes("good/jpeg-cmyk-icc.jpg")
        // Nobody knows the segment by this name.
        var plain = bytes
        for place in bytes.ranges(of: Array("ICC_PROFILE".utf8)) {
            plain.replaceSubrange(place, with: "icc_profile".utf8)
        }
        // The table is called one of a kind that isn't let through.
        var endless = bytes
        for name in ["mft1", "mft2"] {
            for place in bytes.ranges(of: Array(name.utf8)) { endless.replaceSubrange(place, with: "mpet".utf8) }
        }
        #expect(endless != bytes)
        let image = try await SampleImage.decode(endless)
        #expect(image.pixels == (try await SampleImage.decode(plain)).pixels)
        #expect(image.pixels != (try await SampleImage.decode(bytes)).pixels)
    }

    @Test("Tags that leave the profile, that are too many, too long or too large are refused")
    func bounds() {
        let curve: [UInt8] = Array("curv".utf8) + 0.bigEndian(4) + 1.bigEndian(4) + [2, 0]
        #expect(isBounded(profile([("rTRC", curve)])))
        #expect(isBounded(profile([("vcgt", [UInt8](repeating: 7, count: 5000))])))
        for (name, data) in [
            ("rTRC", Array("curv".utf8) + 0.bigEndian(4) + 70_000.bigEndian(4) + [UInt8](repeating: 0, count: 140_000)),
            ("rTRC", Array("curv".utf8) + 0.bigEndian(4) + 100.bigEndian(4)), ("rTRC", pipeline(1)),
            ("A2B0", Array("mft2".utf8) + [0, 0, 0, 0, 15, 15, 255, 0] + [UInt8](repeating: 0, count: 60)),
            ("A2B0", Array("mft1".utf8) + [0, 0, 0, 0, 3, 3, 200, 0] + [UInt8](repeating: 0, count: 2000)),
            ("A2B0", Array("mAB ".utf8) + [0, 0, 0, 0, 3, 3, 0, 0] + [UInt8](repeating: 255, count: 60)),
            ("D2B3", curve), ("zzzz", pipeline(3)), ("wtpt", curve),
        ] as [(String, [UInt8])] {
            #expect(!isBounded(profile([(name, data)])), "\(name)")
        }
        #expect(!isBounded(profile((0..<101).map { _ in ("zzzz", curve) })))
        #expect(!isBounded(profile([("zzzz", [UInt8](repeating: 0, count: 2_100_000))])))
        let whole = profile([("rTRC", curve), ("gTRC", curve)])
        for count in 0..<whole.count - 2 { #expect(!isBounded(Array(whole.prefix(count))), "\(count)") }
        // Fifty tags of the same bytes.
        var shared = profile((0..<50).map { _ in ("zzzz", [UInt8](repeating: 0, count: 1000)) })
        #expect(isBounded(shared))
        for index in 0..<50 {
            shared.replaceSubrange(136 + 12 * index..<144 + 12 * index, with: [0, 0, 2, 0x80, 0, 0, 0xbb, 0])
        }
        #expect(!isBounded(shared))
    }

    @Test("Any damaged profile is let through or refused, within its bytes")
    func damaged() throws {
        let metadata = try ImageCodecs.metadata(of: try Pictures.bytes("good/jpeg-cmyk-icc.jpg"), .jpeg)
        let sources: [[UInt8]] = [ICCProfile.sRGB, Array(metadata.profile.prefix(20_000)), metadata.profile]
        var random = SeededGenerator(seed: 5)
        for source in sources {
            for _ in 0..<500 {
                var damaged = source
                for _ in 0..<3 {
                    damaged[Int.random(in: 0..<min(600, source.count), using: &random)] = .random(
                        in: 0...255, using: &random)
                }
                _ = isBounded(damaged)
            }
        }
    }
}

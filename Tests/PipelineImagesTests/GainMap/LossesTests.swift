import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("What decoding loses is told, and what a file holds is named")
struct LossesTests {
    private func trace(_ bytes: [UInt8]) async throws -> String {
        "\(try await SampleImage.load(bytes) { Decode() }.trace)"
    }

    private func png(_ chunks: [(String, [UInt8])]) -> [UInt8] {
        PNGDecoderTests.File(width: 1, height: 1, color: 0, chunks: chunks, rows: [[0, 9]]).bytes
    }

    @Test("A dropped gain map, mapped tones and cut bits are told in the trace")
    func told() async throws {
        let map = try Pictures.bytes("good/jpeg-ultrahdr-gainmap-mpf.jpg")
        #expect(try await trace(map).contains("The HDR gain map is dropped."))
        #expect(try await trace(try Pictures.bytes("good/png-basn6a16.png")).contains("16 bits a channel become 8."))
        let pq = try await trace(png([("cICP", [9, 16, 0, 1])]))
        #expect(pq.contains("BT.2020, PQ to sRGB. PQ becomes SDR by tone mapping (ITU-R BT.2446 A)."), "\(pq)")
        let wide = try await trace(try Pictures.bytes("good/jpeg-icc-display-p3.jpg"))
        #expect(wide.contains("Display P3 to sRGB"), "\(wide)")
    }

    @Test("Plain sRGB of 8 bits loses nothing")
    func nothing() async throws {
        for name in ["jpeg-greyscale.jpg", "webp-lossy.webp", "avif-photo.avif", "gif-animated.gif"] {
            let trace = try await trace(try Pictures.bytes("good/\(name)"))
            #expect(!trace.contains("become") && !trace.contains("dropped") && !trace.contains("to sRGB"), "\(trace)")
        }
    }

    @Test("Bits aren't missed in a format that never holds more than 8")
    func formats() throws {
        var header = ImageHeader(format: .png, storedSize: PixelSize(square: 9), bitsPerChannel: 16)
        #expect(header.losses(writing: .png) == "16 bits a channel become 8.")
        #expect(header.losses(writing: .jpeg) == nil && header.losses != nil)
        header.gainMap = .apple
        #expect(header.losses(writing: .webp) == "The HDR gain map is dropped.")
    }

    @Test("Colour spaces and transfer functions have names")
    func names() async throws {
        let wide = try await ImageMetadata(of: try Pictures.bytes("good/jpeg-icc-display-p3.jpg"))
        #expect(wide.colorSpaceName == "Display P3" && wide.transferName == "sRGB" && wide.dynamicRange == .standard)
        let plain = try await ImageMetadata(of: png([]))
        #expect(plain.colorSpaceName == "sRGB" && plain.transferName == "sRGB")
        let hlg = try await ImageMetadata(of: png([("cICP", [9, 18, 0, 1])]))
        #expect(hlg.colorSpaceName == "BT.2020" && hlg.transferName == "HLG" && hlg.dynamicRange == .hlg)
        let rec = try await ImageMetadata(of: try Pictures.bytes("good/png-icc-rec2020.png"))
        #expect(rec.colorSpaceName == "BT.2020", "\(rec.colorSpaceName) \(rec.transferName ?? "")")
    }

    @Test("The display of the mastering and the brightest light, in a PNG and in an AVIF")
    func mastering() async throws {
        func numbers(_ numbers: [Int]) -> [UInt8] { numbers.flatMap { $0.bigEndian(2) as [UInt8] } }
        let display = numbers([35400, 14600, 8500, 39850, 6550, 2300, 15635, 16450])
        let lights: [UInt8] = 10_000_000.bigEndian(4) + 50.bigEndian(4)
        let levels: [UInt8] = 8_000_000.bigEndian(4) + 1_800_000.bigEndian(4)
        let chunks = [("mDCV", display + lights), ("cLLI", levels)]
        let found = try #require(try await ImageMetadata(of: png(chunks)).mastering)
        #expect(found.display?.red.x == 0.708 && found.display?.green.y == 0.797 && found.display?.white.y == 0.329)
        #expect(found.display?.maximumLuminance == 1000 && found.display?.minimumLuminance == 0.005)
        #expect(found.maximumContentLight == 800 && found.maximumFrameAverageLight == 180)
        #expect(try await ImageMetadata(of: png([("mDCV", display), ("cLLI", [1])])).mastering == nil)

        let coded = try CodedPicture.av1()
        var fixture = HEIFFixture()
        let order = numbers([8500, 39850, 6550, 2300, 35400, 14600, 15635, 16450])
        let properties = [
            fixture.property("mdcv", order + lights), fixture.property("clli", numbers([800, 180])),
        ]
        fixture.picture(coded, properties: properties)
        #expect(try await ImageMetadata(of: fixture.bytes).mastering == found)
    }
}

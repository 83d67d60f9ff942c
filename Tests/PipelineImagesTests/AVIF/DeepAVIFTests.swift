import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("AVIF and HEIC of more than 8 bits a channel keep them")
struct DeepAVIFTests {
    private let size = PixelSize(width: 97, height: 61)

    private func avif(_ image: DecodedImage, lossless: Bool = false, quality: Int = 95) async throws -> [UInt8] {
        var options = EncodeOptions(quality: quality)
        options.avif.lossless = lossless
        let chosen = options
        return try #require(try await SampleImage.process(image) { Encode(.avif, options: chosen) }.encoded?.bytes)
    }

    private func deep(_ bytes: [UInt8]) async throws -> DecodedImage {
        let image = try await SampleImage.decode(bytes, with: Decode(depth: .source))
        try #require(image.layout.sampleType == .uint16)
        return image
    }

    private func bits(_ bytes: [UInt8]) async throws -> Int { try await ImageMetadata(of: bytes).bitsPerChannel }

    @Test("A gradient has more than 256 levels in an AVIF of 10 bits, and in the PNG made of that")
    func gradient() async throws {
        let wide = PixelSize(width: 1024, height: 16)
        let levels = (0..<wide.width * wide.height).flatMap { index in
            [UInt16](repeating: UInt16(index % 1024 * 64), count: 3)
        }
        let bytes = try await avif(DeepPicture.image(wide, channels: 3, levels))
        #expect(try await bits(bytes) == 10)
        #expect(Set(try await deep(bytes).samples).count > 800)
        let list = try await SampleImage.load(bytes) {
            Decode()
            Encode(.png)
        }
        let png = try #require(list.encoded?.bytes)
        #expect(try await bits(png) == 16)
        #expect(try await deep(png) == deep(bytes))
    }

    @Test("Without loss, samples of 16 bits come back within half a level of 12 bits", arguments: [1, 3, 4])
    func lossless(_ channels: Int) async throws {
        let image = DeepPicture.gradients(size, channels: channels)
        let bytes = try await avif(image, lossless: true)
        #expect(try await bits(bytes) == 12)
        let again = try await deep(bytes)
        // Grey comes back as three equal channels.
        let made =
            channels == 1 ? stride(from: 0, to: again.samples.count, by: 3).map { again.samples[$0] } : again.samples
        #expect(made.count == image.samples.count)
        #expect(zip(made, image.samples).allSatisfy { abs(Int($0) - Int($1)) <= 8 })
        let twice = try await deep(try await avif(again, lossless: true))
        #expect(twice == again)
    }

    @Test("With loss, samples are near, those of transparency too", arguments: [1, 3, 4])
    func lossy(_ channels: Int) async throws {
        let image = DeepPicture.gradients(size, channels: channels)
        let again = try await deep(try await avif(image))
        let step = again.layout.channelCount
        #expect(again.layout.hasAlpha == image.layout.hasAlpha)
        var sum = 0
        for pixel in 0..<size.width * size.height {
            for channel in 0..<step {
                let wanted = image.samples[pixel * channels + min(channel, channels - 1)]
                sum += abs(Int(again.samples[pixel * step + channel]) - Int(wanted))
            }
        }
        let mean = sum / again.samples.count
        #expect(mean < 400, "\(mean) of 65535")
    }

    @Test("Pixels of 8 bits come back exactly without loss, at any effort", arguments: [0, 2, 5, 9])
    func exact(_ effort: Int) async throws {
        for layout in [PixelLayout.gray, .rgb, .rgba] {
            let (small, channels) = (PixelSize(width: 61, height: 43), layout.channelCount)
            var random = SystemRandomNumberGenerator()
            let pixels = (0..<small.width * small.height * channels).map { index in
                index % 5 == 0 ? UInt8.random(in: 0...255, using: &random) : UInt8(truncatingIfNeeded: index / 9)
            }
            var options = EncodeOptions()
            (options.avif.lossless, options.avif.effort) = (true, effort)
            let chosen = options
            let image = DecodedImage(size: small, layout: layout, pixels: pixels)
            let made = try await SampleImage.process(image) { Encode(.avif, options: chosen) }
            let bytes = try #require(made.encoded?.bytes)
            #expect(try await bits(bytes) == 8)
            let again = try await SampleImage.decode(bytes)
            #expect(again.pixels == (layout == .gray ? pixels.flatMap { [$0, $0, $0] } : pixels), "\(layout)")
        }
    }

    @Test(
        "Scaling an AVIF of 10 bits is as exact as floating point",
        arguments: [PixelSize(width: 40, height: 25), PixelSize(width: 150, height: 90)])
    func scaled(_ target: PixelSize) async throws {
        let bytes = try await avif(DeepPicture.gradients(size, channels: 3))
        let response = try await SampleImage.load(bytes) {
            Decode()
            Resize(target, fit: .fill, enlarges: true)
            Encode(.png)
        }
        let made = try await deep(try #require(response.encoded?.bytes)).samples
        let signal = DeepPicture.signal(made, of: try await deep(bytes), scaledTo: target)
        #expect(signal > 90, "\(signal) dB")
        // Scaled by the decoder.
        let box = PixelSize(width: 48, height: 48)
        let small = try await SampleImage.decode(bytes, maxPixelSize: box, with: Decode(depth: .source))
        #expect(small.nativeSize == size && small.size == size.fitted(into: box))
        #expect(DeepPicture.signal(small.samples, of: try await deep(bytes), scaledTo: small.size) > 90)
    }

    @Test(
        "Turned, cropped and mirrored, the samples are those of the whole picture treated so",
        arguments: ["limited-12-444", "limited-10-420"])
    func geometry(_ name: String) async throws {
        let coded = try CodedPicture(of: try Pictures.bytes("generated/gradient-\(name).avif"))
        let plain = try await deep(HEIFFixture.single(coded).bytes)
        var fixture = HEIFFixture.single(coded)
        for (type, content) in [("clap", HEIFFixture.crop(40, 20)), ("irot", [1]), ("imir", [1])] as [(String, [UInt8])]
        {
            fixture.items[0].properties.append(fixture.property(type, content))
        }
        let made = try await deep(fixture.bytes)
        let still = try HEIFStill(fixture.bytes, format: .avif, cancellation: WorkCancellation())
        var part: [UInt8] = []
        for row in 14..<34 { part += plain.frames[0].bytes[(row * 64 + 12) * 6..<(row * 64 + 52) * 6] }
        let wanted = try still.picture.geometry.orientation.applied(
            to: part, size: PixelSize(width: 40, height: 20), channels: 6, cancellation: WorkCancellation())
        #expect(made.size == PixelSize(width: 20, height: 40) && made.frames[0].bytes == wanted)
        #expect(still.picture.geometry.orientation != .up)
    }

    @Test("A choice, a stage or a format of 8 bits gets 8, which are those of 16 rounded")
    func eight() async throws {
        let bytes = try await avif(DeepPicture.gradients(size, channels: 3))
        let flat = try await SampleImage.decode(bytes, with: Decode(depth: .eight))
        #expect(flat.layout == .rgb)
        let rounded = try await deep(bytes).samples.map { (Int($0) * 255 + 32767) / 65535 }
        #expect(zip(flat.pixels, rounded).allSatisfy { abs(Int($0) - $1) <= 1 })
        for format in [ImageFormat.png, .webp, .avif] {
            let list = try await SampleImage.load(bytes) {
                Decode(depth: format == .png ? .eight : nil)
                Adjust(brightness: 1.1)
                Encode(format)
            }
            #expect(try await bits(try #require(list.encoded?.bytes)) == 8, "\(format)")
            #expect(format == .png || list.trace.description.contains("10 bits a channel become 8."), "\(list.trace)")
        }
        let kept = try await SampleImage.load(bytes) {
            Decode()
            Encode(.avif)
        }
        #expect(try await bits(try #require(kept.encoded?.bytes)) == 10)
        #expect(!kept.trace.description.contains("become"), "\(kept.trace)")
    }

    @Test("Where there is memory for 8 bits alone, there are 8, and that is told", arguments: [ImageFormat.avif, .png])
    func memory(_ format: ImageFormat) async throws {
        let image = DeepPicture.gradients(PixelSize(width: 300, height: 300), channels: 3)
        let bytes = try #require(try await SampleImage.process(image) { Encode(format) }.encoded?.bytes)
        let decoder = try #require(ImageCodecs.standard.codec(of: bytes)?.decoder)
        let header = try decoder.header(of: bytes, cancellation: WorkCancellation())
        var options = DecodeOptions()
        options.keepsDepth = true
        let needs = [header, header.keeping(options)].map { $0.decodingMemory(box: nil, frames: 1) }
        #expect(needs[0] < needs[1])
        for (need, type) in zip(needs, [PixelLayout.SampleType.uint8, .uint16]) {
            let list = try await SampleImage.load(bytes) {
                Decode(limits: ImageLimits(memory: need), depth: .source)
            }
            #expect(list.image?.layout.sampleType == type)
            #expect(list.trace.description.contains("become 8.") == (type == .uint8), "\(list.trace)")
        }
    }

    @Test("Colours are kept with the depth, and tones that are mapped before a stage of 8 bits have 8")
    func colors() async throws {
        let layout = PixelLayout(channelCount: 3, hasAlpha: false, sampleType: .uint16, colorSpace: .displayP3)
        let image = DeepPicture.gradients(size, channels: 3)
        let wide = DecodedImage(size: size, layout: layout, pixels: image.frames[0].bytes)
        var bytes = try await avif(wide, lossless: true)
        let kept = try await SampleImage.decode(bytes, with: Decode(gamut: .source, depth: .source))
        #expect(kept.layout == layout)
        #expect(zip(kept.samples, wide.samples).allSatisfy { abs(Int($0) - Int($1)) <= 8 })
        let place = try #require(bytes.firstRange(of: Array("nclx".utf8))).upperBound
        bytes.replaceSubrange(place..<place + 4, with: [0, 9, 0, 16])
        let mapped = try await SampleImage.load(bytes) {
            Decode()
            Blur(sigma: 1)
            Encode(.png)
        }
        #expect(try await bits(try #require(mapped.encoded?.bytes)) == 8)
        #expect(mapped.trace.description.contains("12 bits a channel become 8."), "\(mapped.trace)")
    }

    @Test("Metadata come back byte for byte with 10 bits, with 12 and with 8 without loss", arguments: [false, true])
    func metadata(_ lossless: Bool) throws {
        let metadata = EmbeddedMetadata(
            exif: EXIFRewriting.oriented(.right), xmp: Array("<x:xmpmeta>".utf8), profile: ICCProfile.sRGB)
        var options = EncodeOptions()
        options.avif.lossless = lossless
        for image in [
            DeepPicture.gradients(size, channels: 3), DecodedImage(size: 1, layout: .rgb, pixels: [1, 2, 3]),
        ] {
            let file = try options.file(of: image, .avif, metadata: metadata)
            #expect(try ImageCodecs.metadata(of: file, .avif) == metadata)
        }
    }
}

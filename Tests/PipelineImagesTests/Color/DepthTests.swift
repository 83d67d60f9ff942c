import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@Suite("Sixteen bits a channel stay where a list and its result can hold them")
struct DepthTests {
    private func png(_ image: DecodedImage) async throws -> [UInt8] {
        try #require(try await SampleImage.process(image) { Encode(.png) }.encoded?.bytes)
    }

    private func decoded(_ bytes: [UInt8]) async throws -> DecodedImage {
        try await SampleImage.decode(bytes, with: Decode(depth: .source))
    }

    @Test("A PNG is read and written without a change", arguments: [1, 3, 4])
    func exact(_ channels: Int) async throws {
        let image = DeepPicture.gradients(PixelSize(width: 61, height: 43), channels: channels)
        let bytes = try await png(image)
        let metadata = try await ImageMetadata(of: bytes)
        #expect(metadata.bitsPerChannel == 16)
        let again = try await decoded(bytes)
        #expect(again == image)
        let list = try ImagePipeline(
            validating: Chain {
                ReadInline()
                Decode()
                Encode(.png)
            })
        #expect(try await list.load(ImageRequest(.bytes(bytes))).encoded?.bytes == bytes)
    }

    @Test("Files of others are read too")
    func others() async throws {
        let bytes = try Pictures.bytes("good/png-basn6a16.png")
        let deep = try await decoded(bytes)
        #expect(deep.layout == PixelLayout(channelCount: 4, hasAlpha: true, sampleType: .uint16))
        let flat = try await SampleImage.decode(bytes)
        let high = deep.samples.map { Int($0 >> 8) }
        #expect(zip(high, flat.frames[0].bytes).allSatisfy { abs($0 - Int($1)) <= 1 })
    }

    @Test(
        "Scaling is as exact as floating point", arguments: [1, 3],
        [PixelSize(width: 40, height: 25), PixelSize(width: 150, height: 90), PixelSize(width: 97, height: 20)])
    func scaling(_ channels: Int, _ target: PixelSize) async throws {
        let image = DeepPicture.gradients(PixelSize(width: 97, height: 61), channels: channels)
        let response = try await SampleImage.load(try await png(image)) {
            Decode()
            Resize(target, fit: .fill, enlarges: true)
            Encode(.png)
        }
        let made = try await decoded(try #require(response.encoded?.bytes)).samples
        let signal = DeepPicture.signal(made, of: image, scaledTo: target)
        #expect(signal > 90, "\(signal) dB")
    }

    @Test("What only moves pixels moves those of 16 bits, in a file that is decoded in part too")
    func geometry() async throws {
        let image = DeepPicture.gradients(PixelSize(width: 40, height: 30), channels: 3)
        let response = try await SampleImage.load(try await png(image)) {
            Decode()
            Crop(x: 5, y: 7, width: 20, height: 11)
            Flip(.horizontal)
            Rotate(.quarter)
            Encode(.png)
        }
        let made = try await decoded(try #require(response.encoded?.bytes)).samples
        let source = image.samples
        var wanted: [UInt16] = []
        for y in 0..<20 {
            for x in 0..<11 {
                // Turned clockwise, the left column is the bottom row; mirrored, a column counts from the right.
                let (column, row) = (24 - y, 17 - x)
                wanted += source[(row * 40 + column) * 3..<(row * 40 + column) * 3 + 3]
            }
        }
        #expect(made == wanted)
    }

    @Test("Colours of transparent pixels tint no others")
    func transparency() async throws {
        var samples: [UInt16] = []
        for x in 0..<64 { samples += x < 32 ? [65535, 0, 0, 0] : [0, 30_000, 0, 65535] }
        let layout = PixelLayout(channelCount: 4, hasAlpha: true, sampleType: .uint16)
        let image = DecodedImage(
            size: PixelSize(width: 64, height: 1), layout: layout, pixels: samples.withUnsafeBytes { Array($0) })
        let response = try await SampleImage.load(try await png(image)) {
            Decode()
            Resize(PixelSize(width: 16, height: 1), fit: .fill)
            Encode(.png)
        }
        let made = try await decoded(try #require(response.encoded?.bytes)).samples
        for start in stride(from: 0, to: made.count, by: 4) where made[start + 3] > 0 {
            #expect(made[start] == 0 && abs(Int(made[start + 1]) - 30_000) <= 1)
        }
    }

    @Test("A stage, a format or a user that wants 8 bits gets them")
    func eight() async throws {
        let bytes = try await png(DeepPicture.gradients(PixelSize(width: 40, height: 30), channels: 3))
        for format in [ImageFormat.png, .jpeg, .webp] {
            let response = try await SampleImage.load(bytes) {
                Decode(depth: format == .png ? .eight : nil)
                Encode(format)
            }
            #expect(try await ImageMetadata(of: try #require(response.encoded?.bytes)).bitsPerChannel == 8)
        }
        let adjusted = try await SampleImage.load(bytes) {
            Decode()
            Adjust(brightness: 1.1)
            Encode(.png)
        }
        #expect(try await ImageMetadata(of: try #require(adjusted.encoded?.bytes)).bitsPerChannel == 8)
        #expect(try await SampleImage.decode(bytes).layout == .rgb)
        var options = EncodeOptions()
        options.png.colors = 8
        let chosen = options
        let palette = try await SampleImage.load(bytes) {
            Decode()
            Encode(.png, options: chosen)
        }
        #expect(try await SampleImage.decode(try #require(palette.encoded?.bytes)).size.width == 40)
    }

    @Test("Colours are kept with the depth, and a picture that has to be converted has 8 bits")
    func colors() async throws {
        let layout = PixelLayout(channelCount: 3, hasAlpha: false, sampleType: .uint16, colorSpace: .displayP3)
        let image = DeepPicture.gradients(PixelSize(width: 20, height: 20), channels: 3)
        let wide = DecodedImage(size: image.size, layout: layout, pixels: image.frames[0].bytes)
        let bytes = try await png(wide)
        let kept = try await SampleImage.decode(bytes, with: Decode(gamut: .source, depth: .source))
        #expect(kept == wide)
        #expect(try await SampleImage.decode(bytes, with: Decode(gamut: .sRGB, depth: .source)).layout == .rgb)
    }
}

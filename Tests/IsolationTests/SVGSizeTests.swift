import Pipeline
import PipelineImages
import PipelineIsolation
import TestFixtures
import Testing

@Suite("The size of an SVG", .onLinux)
struct SVGSizeTests {
    private static func circle(_ size: String) -> [UInt8] {
        Array(
            """
            <svg xmlns="http://www.w3.org/2000/svg" \(size) viewBox="0 0 20 20"><circle cx="10" cy="10" r="9"/></svg>
            """.utf8)
    }

    /// Decodes an SVG, with later stages.
    private func decode(
        _ svg: [UInt8], maxPixelSize: PixelSize? = nil, limits: ImageLimits = ImageLimits(),
        @ChainBuilder _ later: () -> Chain = { Chain([]) }
    ) async throws -> DecodedImage {
        let pool = try await Corpus.pool(workers: 1)
        let codecs = try ImageCodecs.standard.adding(.svg).isolated(in: pool)
        let list = Chain {
            ReadInline()
            Decode(codecs: codecs, limits: limits)
            later()
        }
        let request = ImageRequest(.bytes(svg), maxPixelSize: maxPixelSize)
        return try #require(try await ImagePipeline(validating: list).load(request).image)
    }

    private func expectSame(_ image: DecodedImage, _ other: DecodedImage) throws {
        #expect(image.size == other.size)
        let (bytes, others) = (try image.withPixels { Array($0) }, try other.withPixels { Array($0) })
        #expect(bytes == others)
    }

    @Test("An enlarged SVG is drawn at that size, as one of that size is")
    func enlarged() async throws {
        let drawn = try await decode(Self.circle("width='300' height='300'"))
        let enlarged = try await decode(Self.circle("width='20' height='20'")) {
            Resize(300, enlarges: true)
        }
        try expectSame(enlarged, drawn)
        #expect(enlarged.nativeSize == 20)
        let flipped = try await decode(Self.circle("width='20' height='20'")) {
            Flip(.horizontal)
            Resize(300, fit: .fill, enlarges: true)
        }
        #expect(try flipped.withPixels { Set($0).count } == drawn.withPixels { Set($0).count })
        let filled = try await decode(Self.circle("width='20' height='20'")) {
            Resize(width: 300, height: 200, fit: .cover, enlarges: true)
        }
        let cropped = try await decode(Self.circle("width='300' height='300'")) {
            Crop(PixelSize(width: 300, height: 200))
        }
        try expectSame(filled, cropped)
    }

    @Test("A reduced SVG is drawn at that size, as one of that size is")
    func reduced() async throws {
        let drawn = try await decode(Self.circle("width='20' height='20'"))
        try expectSame(try await decode(Self.circle("width='300' height='300'"), maxPixelSize: 20), drawn)
        try expectSame(try await decode(Self.circle("width='300' height='300'")) { Resize(20) }, drawn)
    }

    @Test("Nothing enlarges an SVG unless it says so")
    func notEnlarged() async throws {
        let icon = Self.circle("width='20' height='20'")
        let drawn = try await decode(icon)
        try expectSame(try await decode(icon, maxPixelSize: 300) { Downscale() }, drawn)
        for fit in Resize.Fit.allCases where fit != .contain {
            try expectSame(try await decode(icon) { Resize(300, fit: fit) }, drawn)
        }
        let framed = try await decode(icon) { Resize(300, fit: .contain, background: .clear) }
        #expect(framed.size == 300)
        #expect(
            try framed.withPixels { $0.filter { $0 != 0 }.count } == drawn.withPixels { $0.filter { $0 != 0 }.count })
    }

    @Test("The limit of pixels is for the size that is drawn")
    func limits() async throws {
        let limits = ImageLimits(pixels: 1000)
        let error = await #expect(throws: LoadError.self) {
            try await decode(Self.circle("width='20' height='20'"), limits: limits) { Resize(300, enlarges: true) }
        }
        #expect(error?.code == .tooManyPixels)
    }

    @Test(
        "Absurd sizes are refused",
        arguments: [
            "viewBox='0 0 1e9 1e9'", "width='1e30' height='10'", "width='1e300' height='1e300'", "width='0' height='9'",
            "width='-4' height='5'", "width='nan' height='inf'", "viewBox='0 0 0 0'", "",
        ])
    func absurd(_ size: String) async throws {
        let svg = Array("<svg xmlns='http://www.w3.org/2000/svg' \(size)/>".utf8)
        let error = await #expect(throws: LoadError.self) { try await decode(svg, maxPixelSize: 300) }
        #expect([.tooManyPixels, .undecodable].contains(error?.code))
    }

    @Test(
        "A size is that of width and height, in CSS pixels, or follows from the view box",
        arguments: [
            ("width='1in' height='2.54cm'", 96, 96), ("width='16.4' height='8'", 17, 8),
            ("width='30' viewBox='0 0 10 20'", 30, 60), ("width='100%' height='40' viewBox='0 0 10 20'", 20, 40),
            ("viewBox='0 0 70 50'", 70, 50), ("width='50%' height='50%' viewBox='0 0 70 50'", 70, 50),
        ])
    func natural(_ attributes: String, _ width: Int, _ height: Int) async throws {
        let svg = Array("<svg xmlns='http://www.w3.org/2000/svg' \(attributes)/>".utf8)
        #expect(try await decode(svg).size == PixelSize(width: width, height: height))
    }

    @Test("A side may be longer than a surface of cairo")
    func long() async throws {
        let svg = Array(
            """
            <svg xmlns='http://www.w3.org/2000/svg' width='40000' height='2'><rect width='40000' height='2'/></svg>
            """.utf8)
        let image = try await decode(svg)
        #expect(
            try image.withPixels { pixels in stride(from: 3, to: pixels.count, by: 4).allSatisfy { pixels[$0] == 255 } }
        )
    }
}

import Foundation
import Pipeline
import PipelineImages
import PipelineIsolation
import TestFixtures
import Testing

@Suite("SVG and JPEG XL behind a pool", .onLinux)
struct RiskyFormatsTests {
    private func withCodecs(_ body: (ImageCodecs) async throws -> Void) async throws {
        let pool = try await Corpus.pool(workers: 1)
        try await body(try ImageCodecs.standard.adding(.svg).adding(.jxl).isolated(in: pool))
        #expect(pool.statistics.refusedCalls == 0, "call \(pool.statistics.lastRefusedCall)")
        await pool.close()
    }

    @Test("Both are decoded, reduced and described")
    func decoded() async throws {
        try await withCodecs { codecs in
            for (name, size) in [
                ("svg-shapes.svg", PixelSize(width: 312, height: 442)), ("jxl.jxl", PixelSize(width: 640, height: 472)),
            ] {
                let bytes = try Pictures.bytes("good/\(name)")
                let image = try await DecodedImage(decoding: bytes, codecs: codecs)
                #expect(image.size == size)
                #expect(Set(try image.withPixels { Array($0) }).count > 8, "\(name) has no picture")
                let small = try await DecodedImage(decoding: bytes, maxPixelSize: 100, codecs: codecs)
                #expect(small.size == size.fitted(into: 100))
                #expect(try await ImageMetadata(of: bytes, codecs: codecs).size == size)
            }
        }
    }

    @Test("Their sizes are limited by their headers, before a pixel is drawn")
    func limited() async throws {
        try await withCodecs { codecs in
            let svg = Array(#"<svg xmlns="http://www.w3.org/2000/svg" width="30000" height="30000"/>"#.utf8)
            let error = await #expect(throws: LoadError.self) { try await DecodedImage(decoding: svg, codecs: codecs) }
            #expect(error?.code == .tooManyPixels)
        }
    }

    @Test("An SVG can't read files nor blow up")
    func hostile() async throws {
        try await withCodecs { codecs in
            for name in ["svg-external-file.svg", "svg-billion-laughs.svg"] {
                let bytes = try Pictures.bytes("bad/\(name)")
                let error = await #expect(throws: LoadError.self) {
                    try await DecodedImage(decoding: bytes, codecs: codecs)
                }
                #expect(error?.code == .undecodable, "\(name)")
            }
        }
    }

    @Test("A reference to a picture in a file isn't followed, and one in the SVG itself is drawn")
    func references() async throws {
        func svg(_ reference: String) -> [UInt8] {
            Array(
                """
                <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="40" height="40">
                <image xlink:href="\(reference)" width="40" height="40"/></svg>
                """.utf8)
        }
        let dot = try await EncodedImage(
            encoding: DecodedImage(size: 2, layout: .rgb, pixels: [UInt8](repeating: 200, count: 12)), as: .png)
        let pool = try await Corpus.pool(workers: 1)
        let codecs = try ImageCodecs.standard.adding(.svg).isolated(in: pool)
        let inline = "data:image/png;base64,\(Data(dot.bytes).base64EncodedString())"
        let drawn = try await DecodedImage(decoding: svg(inline), codecs: codecs)
        #expect(try drawn.withPixels { $0.contains(200) })
        let file = try await DecodedImage(decoding: svg("file:///etc/hostname"), codecs: codecs)
        #expect(try file.withPixels { $0.allSatisfy { $0 == 0 } })
        await pool.close()
    }

    @Test("Pictures of all formats are drawn in an SVG, and those that can't be are counted", arguments: [false, true])
    func embedded(isWide: Bool) async throws {
        let pool = try await Corpus.pool(workers: 1)
        let codecs = try ImageCodecs.standard.adding(.svg).isolated(in: pool)
        let dot = DecodedImage(size: 2, layout: .rgb, pixels: [UInt8](repeating: 200, count: 12))
        func svg(_ type: String, _ bytes: [UInt8]) -> [UInt8] {
            let text = """
                <?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><title>é</title>
                <image href="data:\(type);base64,\(Data(bytes).base64EncodedString())" width="40" height="40"/></svg>
                """
            guard isWide else { return Array(text.utf8) }
            return [0xfe, 0xff] + text.utf16.flatMap { unit -> [UInt8] in [UInt8(unit >> 8), UInt8(unit & 255)] }
        }
        let decoder = try #require(codecs.codec(for: .svg)?.decoder)
        func missing(_ file: [UInt8]) throws -> Int {
            try decoder.header(of: file, cancellation: WorkCancellation()).missingPictures
        }
        for format in [ImageFormat.gif, .webp, .tiff, .png, .jpeg, .avif] {
            let file = svg(format.rawValue, try await EncodedImage(encoding: dot, as: format).bytes)
            let drawn = try await DecodedImage(decoding: file, codecs: codecs)
            let center = try drawn.withPixels { Array($0[3280..<3284]) }
            #expect(
                center[3] == 255 && center.prefix(3).allSatisfy { (190...210).contains($0) }, "\(format): \(center)")
            #expect(try missing(file) == 0)
        }
        // Without a type, with a wrong one, and an SVG in an SVG in an SVG.
        let png = try await EncodedImage(encoding: dot, as: .png).bytes
        let jpeg = try await EncodedImage(encoding: dot, as: .jpeg).bytes
        for file in [
            svg("", png), svg("", jpeg), svg("image/png", jpeg), svg("image/jpeg", png),
            svg("image/svg+xml", svg("image/svg+xml", svg("image/gif", png))),
        ] {
            let drawn = try await DecodedImage(decoding: file, codecs: codecs)
            let center = try drawn.withPixels { Array($0[3280..<3284]) }
            #expect(center[3] == 255 && center.prefix(3).allSatisfy { (190...210).contains($0) }, "\(center)")
            #expect(try missing(file) == 0)
        }
        let icon: [UInt8] = [0, 0, 1, 0, 1, 0]
        for file in [
            svg("image/x-icon", icon), svg("image/gif", Array("GIF89a".utf8)),
            svg("image/svg+xml", Array("<svg/>".utf8)),
        ] {
            _ = try await DecodedImage(decoding: file, codecs: codecs)
            #expect(try missing(file) == 1)
        }
        #expect(try missing(svg("text/css", [0x61])) == 0)
        #expect(pool.statistics.refusedCalls == 0, "call \(pool.statistics.lastRefusedCall)")
        await pool.close()
    }

    @Test("Filters and text are drawn")
    func filtersAndText() async throws {
        let pool = try await Corpus.pool(workers: 1)
        let codecs = try ImageCodecs.standard.adding(.svg).isolated(in: pool)
        let blurred = """
            <svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><filter id="f"><feGaussianBlur stdDeviation="3"/>
            <feTurbulence baseFrequency="0.1"/></filter><rect width="20" height="20" filter="url(#f)"/></svg>
            """
        let image = try await DecodedImage(decoding: Array(blurred.utf8), codecs: codecs)
        #expect(try image.withPixels { Set($0).count > 4 })
        let text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="#fff"/>
            <text x="2" y="30" font-size="30">A</text></svg>
            """
        let page = try await DecodedImage(decoding: Array(text.utf8), codecs: codecs)
        #expect(page.size == 40)
        #expect(pool.statistics.deaths == 0)
        await pool.close()
    }
}

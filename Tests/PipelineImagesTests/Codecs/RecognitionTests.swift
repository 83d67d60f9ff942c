import Pipeline
@testable import PipelineImages
import TestFixtures
import Testing

@Suite("An image's format is told by its first bytes")
struct RecognitionTests {
    @Test("Every good file is told by its bytes")
    func everyGoodFile() throws {
        let rows = try SampleImage.manifest("good")
        #expect(rows.count > 30)
        for row in rows {
            let expected =
                switch row.columns[2] {
                case "svg": ImageFormat.svg
                default: ImageFormat(rawValue: "image/\(row.columns[2])")
                }
            #expect(ImageCodecs.known.format(of: try Pictures.bytes("good/\(row.name)")) == expected, "\(row.name)")
        }
    }

    @Test("A page of HTML, a text and nothing at all are not images")
    func noImages() throws {
        #expect(ImageCodecs.known.format(of: try Pictures.bytes("bad/html-served-as-image.jpg")) == nil)
        #expect(ImageCodecs.known.format(of: []) == nil)
        #expect(ImageCodecs.known.format(of: Array("BMW is a maker of cars, not a bitmap".utf8)) == nil)
        #expect(ImageCodecs.known.format(of: Array("<html><svg></svg></html>".utf8)) == nil)
    }

    @Test("Any beginning of any file gives a result")
    func beginnings() throws {
        for row in try SampleImage.manifest("good") + SampleImage.manifest("bad") {
            let folder = row.columns[0].prefix { $0 != "/" }
            let bytes = try Pictures.bytes("\(folder)/\(row.name)")
            let whole = ImageCodecs.known.format(of: bytes)
            for length in 0..<min(64, bytes.count) {
                let format = ImageCodecs.known.format(of: Array(bytes.prefix(length)))
                #expect(format == nil || format == whole, "\(row.name), \(length) bytes")
            }
        }
    }

    @Test(
        "HEIF files are told by their brands, compatible ones included",
        arguments: [
            (["avif"], ImageFormat.avif), (["avis", "msf1"], .avif), (["mif1", "miaf", "avif"], .avif),
            (["heic", "mif1"], .heic), (["mif1", "heic"], .heic), (["msf1", "hevc"], .heic), (["mif1"], nil),
            (["isom", "mp42"], nil),
        ] as [([String], ImageFormat?)])
    func brands(_ brands: [String], _ expected: ImageFormat?) {
        let body = Array("ftyp\(brands[0])".utf8) + [0, 0, 0, 0] + brands.dropFirst().flatMap { Array($0.utf8) }
        #expect(ImageCodecs.known.format(of: [0, 0, 0, UInt8(4 + body.count)] + body) == expected)
    }

    @Test("A brand behind the end of the ftyp box doesn't count")
    func brandBehindTheBox() {
        let bytes = [0, 0, 0, 16] + Array("ftypmif1".utf8) + [0, 0, 0, 0] + Array("avif".utf8)
        #expect(ImageCodecs.known.format(of: bytes) == nil)
    }

    @Test("TIFF is told in both byte orders, BigTIFF included")
    func tiff() {
        for start in ["II*\0", "MM\0*", "II+\0", "MM\0+"] {
            #expect(ImageCodecs.known.format(of: Array(start.utf8) + [8, 0, 0, 0]) == .tiff)
        }
    }

    @Test(
        "A format that others read is refused by its name",
        arguments: [
            ("a JPEG 2000", [0, 0, 0, 12, 0x6a, 0x50, 0x20, 0x20, 0x0d, 0x0a]), ("an icon", [0, 0, 1, 0, 1, 0]),
            ("a Photoshop document", Array("8BPS\0\u{1}".utf8)), ("a QOI", Array("qoif".utf8)),
            ("a HEIF of the brand mif3", [0, 0, 0, 16] + Array("ftypmif3heic".utf8)),
            ("a HEIF of the brand mif3", [0, 0, 0, 16] + Array("ftypmif3avif".utf8)),
            ("a HEIF whose pictures aren't coded with AV1 or HEVC", [0, 0, 0, 16] + Array("ftypmif1\0\0\0\0".utf8)),
            ("a HEIF whose pictures aren't coded with AV1 or HEVC", [0, 0, 0, 16] + Array("ftypavci\0\0\0\0".utf8)),
        ] as [(String, [UInt8])])
    func unsupported(_ name: String, _ bytes: [UInt8]) async throws {
        let decoded = try await #require(throws: LoadError.self) { try await SampleImage.decode(bytes) }
        let described = try await #require(throws: LoadError.self) { try await ImageMetadata(of: bytes) }
        for error in [decoded, described] {
            #expect(error.code == .unsupportedType)
            #expect(error.message.contains(name))
            #expect(error.message.contains("is not supported"))
        }
    }

    @Test(
        "SVG is told behind what XML allows before its root",
        arguments: [
            "<svg/>", "\u{feff}<svg xmlns=''>", "  \n<?xml version='1.0'?>\n<!-- a > b --><svg>",
            "<!DOCTYPE svg [ <!ENTITY a '<b>'> ]>\n<svg>", "<s:svg xmlns:s=''/>", "<!DOCTYPE s:svg><s:svg>",
            "<!--\(String(repeating: "x", count: 30_000))--><svg>",
        ])
    func svg(_ text: String) {
        #expect(ImageCodecs.known.format(of: Array(text.utf8)) == .svg)
        let units = (text.hasPrefix("\u{feff}") ? text : "\u{feff}" + text).utf16
        for wide in [
            units.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }, units.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] },
        ] { #expect(ImageCodecs.known.format(of: wide) == .svg) }
    }

    @Test(
        "What only resembles an SVG isn't one",
        arguments: ["<svgs>", "<", "<!--", "<!-->--><html>", "<!DOCTYPE html><html>", "<svg:a/>", "svg"])
    func notSVG(_ text: String) { #expect(ImageCodecs.known.format(of: Array(text.utf8)) == nil) }

    @Test(
        "What only begins like a format is not an image, and no format is called left out",
        arguments: ["BMW is a car, and this is a text", "GIF8 never was a version", "\0\0\0\u{8}ftyphexa", "<svgs>"])
    func resembling(_ text: String) throws {
        let error = try #require(throws: LoadError.self) {
            _ = try ImageCodecs.standard.readableCodec(of: Array(text.utf8))
        }
        #expect(error.code == .undecodable && error.message.contains("is not an image"))
    }

    @Test("A file's name promises a format, and each format has an extension that promises it")
    func extensions() {
        let expected: [(String, ImageFormat?)] = [
            ("JPG", .jpeg), ("heif", .heic), ("mpo", .jpeg), ("avifs", .avif), ("heics", .heic), ("txt", nil),
        ]
        for (name, format) in expected { #expect(ImageCodecs.standard.codec(forExtension: name)?.format == format) }
        for codec in ImageCodecs.known.codecs {
            #expect(!codec.extensions.isEmpty)
            for name in codec.extensions { #expect(ImageCodecs.known.codec(forExtension: name) === codec) }
        }
    }
}

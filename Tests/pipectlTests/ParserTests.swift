import Foundation
import PipelineImages
import TestFixtures
import Testing

@Suite("With isolated decoders, the program itself parses nothing of a file but its first bytes", .onLinux)
struct ParserTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-exif-xmp-icc.jpg", as: "photo.jpg")
        try pipectl.add("good/gif-animated.gif", as: "moving.gif")
    }

    /// Pictures of all formats; of an animation, of parts and of a photograph with a thumbnail too.
    private static let pictures = [
        "jpeg-exif-xmp-icc.jpg", "jpeg-progressive-444.jpg", "jpeg-cmyk-icc.jpg", "jpeg-ultrahdr-gainmap-mpf.jpg",
        "png-icc-rec2020.png", "png-apng-animated.png", "webp-animated.webp", "webp-lossy-alpha.webp",
        "gif-animated.gif",
        "avif-photo.avif", "heic-128.heif", "tiff-jpeg-tiled.tif", "bmp-rgb24.bmp", "svg-shapes.svg", "jxl.jxl",
    ]

    private func trap(_ program: String = "pipectl", allowing more: Set<String> = []) async throws -> ParserTrap {
        let program = Pipectl.executable.deletingLastPathComponent().appending(path: program)
        guard let trap = try await ParserTrap(for: program, allowing: more, in: pipectl) else {
            try Test.cancel("There is no compiler of C or no nm to make the trap with.")
        }
        return trap
    }

    /// The decoder inside of what only guards it.
    private static func name(of decoder: any ImageDecoding) -> String {
        let inner = Mirror(reflecting: decoder).children.first { $0.label == "decoder" }?.value
        return "\(type(of: inner ?? decoder))"
    }

    @Test("The trap has the decoder of every format, and each name that it leaves out belongs to a type of the program")
    func complete() async throws {
        let trap = try await trap()
        for codec in ImageCodecs.known.codecs {
            let name = Self.name(of: codec.decoder)
            for function in ["header(of:", "decode(_:"] {
                #expect(
                    trap.names.contains { $0.hasPrefix("\(name).\(function)") }, "\(codec.format): \(name).\(function)")
            }
        }
        for parser in [
            "EXIFBlock.init", "ICCProfile.init", "JPEGSegments.init", "JPEGThumbnail.init", "PNGChunks.init",
            "HEIFFile.init", "TIFFStrip.init", "SVGScan.init", "XMPRewriting.corrected", "Inflation.bytes", "cvips_",
            "cavif_open", "cheif_decode", "ctiff_open", "cjxl_open", "csvg_open", "cjpeg_open", "cgif_decompress",
        ] {
            #expect(trap.names.contains { $0.hasPrefix(parser) }, "\(parser)")
        }
        let formats = Self.pictures.compactMap {
            ImageCodecs.known.codec(forExtension: $0.split(separator: ".").last ?? "")
        }
        #expect(Set(formats.map(\.format)).count == ImageCodecs.known.codecs.count)
    }

    @Test("No verb parses a file", arguments: pictures)
    func verbs(_ picture: String) async throws {
        let trap = try await trap()
        try pipectl.add("good/\(picture)", as: picture)
        for words in [
            ["thumb", "-s", "50x50", "--crop", "attention", picture, "-o", "thumb.jpg"],
            ["thumb", "--crop", "20x20+1+1", picture, "-o", "part.png"],
            ["info", "--json", "--hash", picture],
            ["montage", picture, "photo.jpg", "-o", "sheet.png"],
            ["compare", picture, picture],
            ["run", "photo.jpg", "--ops", "resize=100,composite=\(picture):southEast:scale=0.2", "-o", "marked.jpg"],
            ["srcset", picture, "--widths", "20,10", "--formats", "webp", "-o", "set-{w}.webp"],
            ["load", picture, "-o", "loaded.webp"],
            ["batch", picture, "-f", "png", "-o", "batch"],
        ]
            + (["jpg", "png", "webp"].contains { picture.hasSuffix($0) }
                ? [["strip", picture, "-o", "stripped-\(picture)"]] : [])
        {
            let result = try await pipectl.run(words + ["--isolate"], ["LD_PRELOAD": trap.library])
            #expect(result.status == 0, "\(words): \(result.errors)")
        }
    }

    @Test("No format's encoder hands metadata to a parser")
    func encoders() async throws {
        let trap = try await trap()
        let others = [
            "avif": try await self.trap(allowing: ParserTrap.readsOwnAVIF),
            "tiff": try await self.trap(allowing: ParserTrap.readsTexts),
        ]
        for metadata in ["all", "no-gps", "icc", "copyright"] {
            for source in ["photo.jpg", "moving.gif"] {
                for format in ["avif", "webp", "png", "jpg", "tiff", "gif"] {
                    let result = try await pipectl.run(
                        ["convert", "--isolate", "--metadata", metadata, "-y", source, "out.\(format)"],
                        ["LD_PRELOAD": (others[format] ?? trap).library])
                    #expect(result.status == 0, "\(source) to \(format) with \(metadata): \(result.errors)")
                }
            }
        }
    }

    @Test(
        "Previews of what has arrived are decoded elsewhere too", .timeLimit(.minutes(1)),
        arguments: [("jpeg-progressive-444.jpg", 30_000), ("webp-lossless.webp", 20_000)])
    func previews(_ picture: String, _ count: Int) async throws {
        let trap = try await trap("PreviewTrial")
        try pipectl.add("good/\(picture)", as: picture)
        let result = try await pipectl.shell(
            "LD_PRELOAD='\(trap.library)' PreviewTrial \(picture) \(count) cache")
        #expect(result.status == 0 && result.text.hasPrefix("previews, then 100×"), "\(result.text) \(result.errors)")
    }

    @Test("The trap works: without isolation it is called")
    func trapped() async throws {
        let trap = try await trap()
        for picture in Self.pictures {
            try pipectl.add("good/\(picture)", as: picture)
            let format = picture.split(separator: ".").last ?? ""
            let codec = try #require(ImageCodecs.known.codec(forExtension: format))
            let result = try await pipectl.run(
                ["convert", "--no-isolate", "-y", picture, "out.png"], ["LD_PRELOAD": trap.library])
            if codec.needsIsolation {
                #expect(result.status == 0, "\(picture): \(result.errors)")
            } else {
                #expect(result.status == 99)
                #expect(result.errors.contains("called \(Self.name(of: codec.decoder)).header(of:"), "\(result.errors)")
            }
        }
    }
}

import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("Manifests of provenance (C2PA) are removed from a file, or kept")
struct StrippingProvenanceTests {
    private static let keeping = [false, true].map { StrippedMetadata(isLocation: $0, keepsProvenance: true) }

    private static let names = [
        "jpeg-greyscale.jpg", "jpeg-progressive-444.jpg", "png-basi2c08.png", "png-icc-rec2020.png",
        "webp-animated.webp", "webp-lossless.webp", "webp-lossy-alpha.webp", "webp-lossy.webp",
    ]

    private func provenance(_ bytes: [UInt8]) async throws -> ImageMetadata.Provenance? {
        try await ImageMetadata(of: bytes).provenance
    }

    private func strip(_ bytes: [UInt8], _ metadata: StrippedMetadata) async throws -> [UInt8] {
        let stripped = try await ImageCodecs.standard.stripped(bytes, of: metadata)
        #expect(try await SampleImage.decode(stripped).pixels == (try await SampleImage.decode(bytes)).pixels)
        #expect(try await ImageCodecs.standard.stripped(stripped, of: metadata) == stripped)
        return stripped
    }

    @Test("They go with all metadata, and with the place", arguments: names)
    func removed(name: String) async throws {
        let plain = try Pictures.bytes("good/\(name)")
        let signed = try ManifestFixture.signed(plain)
        for metadata in [StrippedMetadata.all, .location] {
            let stripped = try await strip(signed, metadata)
            #expect(try await provenance(stripped) == nil)
            #expect(stripped.firstRange(of: Array("urn:c2pa".utf8)) == nil)
            #expect(try await strip(plain, metadata) == stripped)
        }
    }

    @Test("Kept, they leave a file that has nothing else byte for byte as it is", arguments: names)
    func kept(name: String) async throws {
        let clean = try await strip(try Pictures.bytes("good/\(name)"), .all)
        let signed = try ManifestFixture.signed(clean)
        for metadata in Self.keeping { #expect(try await strip(signed, metadata) == signed) }
    }

    @Test("Kept, they stay when everything else goes", arguments: ["jpeg-exif-xmp-icc.jpg", "png-apng-animated.png"])
    func withOthers(name: String) async throws {
        let file = try Pictures.bytes("good/\(name)")
        let comment: [UInt8] = [0xff, 0xfe, 0, 8] + Array("secret".utf8)
        let signed = try ManifestFixture.signed(
            name.hasSuffix("jpg") ? Array(file[..<2]) + comment + Array(file[2...]) : file)
        let stripped = try await strip(signed, Self.keeping[0])
        #expect(stripped.firstRange(of: ManifestFixture.store) != nil)
        #expect(stripped.firstRange(of: Array("secret".utf8)) == nil)
        let metadata = try await ImageMetadata(of: stripped)
        #expect(metadata.provenance?.byteCount == ManifestFixture.store.count && metadata.xmpByteCount == 0)
    }

    @Test("Without a place to remove, a file with EXIF stays as it is")
    func withoutPlace() async throws {
        let signed = try ManifestFixture.signed(try Pictures.bytes("good/exif-orientation-6.jpg"))
        #expect(try await strip(signed, Self.keeping[1]) == signed)
    }

    @Test("In segments of a JPEG, whatever their order, with other boxes between them")
    func segments() async throws {
        let (store, file) = (ManifestFixture.store, try Pictures.bytes("good/jpeg-greyscale.jpg"))
        let (first, second) = (Array(store[..<200]), Array(store[..<8]) + Array(store[200...]))
        let other = ManifestFixture.superbox("other", Array("secret".utf8))
        let pieces: [ManifestFixture.Piece] = [
            (2, 2, second), (1, 1, other), (2, 1, first), (2, 2, second), (3, 1, Array("RESI----".utf8)),
        ]
        let signed = ManifestFixture.jpeg(file, with: pieces)
        let kept = try await strip(signed, Self.keeping[0])
        #expect(try await provenance(kept) == (try await provenance(signed)))
        #expect(try await provenance(kept)?.manifests == 2)
        #expect(kept.firstRange(of: Array("secret".utf8)) == nil)
        for metadata in [StrippedMetadata.all, .location] {
            let stripped = try await strip(signed, metadata)
            #expect(stripped.firstRange(of: Array("jumb".utf8)) == nil)
            #expect(stripped.firstRange(of: Array("cbor".utf8)) == nil)
        }
    }

    @Test("In a chunk of a PNG after the pixels, and in several chunks")
    func chunks() async throws {
        let file = try await strip(try Pictures.bytes("good/png-basi2c08.png"), .all)
        var writer = PNGWriter()
        writer.writeChunk("caBX", ManifestFixture.store)
        writer.writeChunk("caBX", ManifestFixture.store)
        let signed = Array(file.dropLast(12)) + writer.chunks + file.suffix(12)
        #expect(try await provenance(signed)?.manifests == 2)
        #expect(try await strip(signed, Self.keeping[0]) == signed)
        #expect(try await strip(signed, .all) == file)
    }

    @Test("Chunks that don't begin with a manifest aren't kept", arguments: ["png-basi2c08.png", "webp-lossy.webp"])
    func disguised(name: String) async throws {
        let file = try ManifestFixture.signed(
            try Pictures.bytes("good/\(name)"), with: ManifestFixture.superbox("other", Array("secret".utf8)))
        #expect(try await strip(file, Self.keeping[0]).firstRange(of: Array("secret".utf8)) == nil)
    }

    @Test("Bytes after the end of a file, and other chunks, go even if the manifest is kept")
    func trailing() async throws {
        for name in ["jpeg-greyscale.jpg", "png-basi2c08.png", "webp-lossy.webp"] {
            let clean = try await strip(try Pictures.bytes("good/\(name)"), .all)
            let signed = try ManifestFixture.signed(clean)
            #expect(
                try await ImageCodecs.standard.stripped(signed + Array("secret".utf8), of: Self.keeping[0]) == signed)
        }
        let webp = ManifestFixture.webp(
            try ManifestFixture.signed(try Pictures.bytes("good/webp-lossy.webp")), with: "SCRT", Array("secret".utf8))
        let stripped = try await strip(webp, Self.keeping[0])
        #expect(stripped.firstRange(of: Array("secret".utf8)) == nil)
        #expect(try await provenance(stripped) != nil)
    }

    @Test("A WebP with XMP and without a header of features, as c2pa-rs writes it, is stripped")
    func withoutFeatures() async throws {
        let file = try Pictures.bytes("good/webp-lossy.webp")
        let signed = try ManifestFixture.signed(ManifestFixture.webp(file, with: "XMP ", Array("<x/>".utf8)))
        #expect(try await provenance(signed) != nil)
        #expect(try await strip(signed, .all) == file)
        #expect(try await strip(signed, Self.keeping[0]) == (try ManifestFixture.signed(file)))
    }

    @Test("The address of manifests in XMP goes with the place, unless it is kept")
    func address() async throws {
        let xmp = Array(#"<x:xmpmeta a="b" dcterms:provenance="https://example.org/m"/>"#.utf8)
        let pixels = DecodedImage(size: PixelSize(square: 8), layout: .gray, pixels: [UInt8](repeating: 9, count: 64))
        for format in [ImageFormat.jpeg, .png, .webp] {
            let file = try EncodeOptions().file(of: pixels, format, metadata: EmbeddedMetadata(xmp: xmp))
            #expect(try await provenance(file)?.url == "https://example.org/m")
            #expect(try await provenance(try await strip(file, .all)) == nil)
            let stripped = try await strip(file, .location)
            #expect(try await provenance(stripped) == nil)
            #expect(try ImageCodecs.metadata(of: stripped, format).xmp == Array(#"<x:xmpmeta a="b" />"#.utf8))
            #expect(try await provenance(try await strip(file, Self.keeping[1])) != nil)
        }
    }
}

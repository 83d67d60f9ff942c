import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("The manifests of a picture's provenance are found and described (C2PA 2.1, annex A)")
struct ProvenanceTests {
    private typealias Provenance = ImageMetadata.Provenance

    private let store = ManifestFixture.store

    private func provenance(_ bytes: [UInt8]) async throws -> ImageMetadata.Provenance? {
        try await ImageMetadata(of: bytes).provenance
    }

    private func jpeg(_ pieces: [ManifestFixture.Piece]) throws -> [UInt8] {
        ManifestFixture.jpeg(try Pictures.bytes("good/jpeg-greyscale.jpg"), with: pieces)
    }

    @Test("In the segments of a JPEG, whatever their order and other boxes")
    func jpegSegments() async throws {
        let (header, middle) = (Array(store.prefix(8)), 200)
        let (first, second) = (Array(store.prefix(middle)), header + store.dropFirst(middle))
        let other = ManifestFixture.superbox("other", [])
        let expected = Provenance(byteCount: store.count, manifests: 2, label: "urn:c2pa:active")
        #expect(try await provenance(jpeg([(1, 1, store)])) == expected)
        #expect(try await provenance(jpeg([(1, 1, other), (2, 1, first), (2, 2, second)])) == expected)
        #expect(try await provenance(jpeg([(2, 2, second), (1, 1, other), (2, 1, first)])) == expected)
        #expect(try await provenance(jpeg([(1, 1, other)])) == nil)
        #expect(try await provenance(jpeg([(2, 1, first)])) == nil)
    }

    @Test("In the chunk of a PNG and of a WebP, and in the box of an AVIF and of a HEIC")
    func chunks() async throws {
        let expected = Provenance(byteCount: store.count, manifests: 2, label: "urn:c2pa:active")
        let png = PNGDecoderTests.File(width: 1, height: 1, color: 0, chunks: [("caBX", store)], rows: [[0, 9]]).bytes
        #expect(try await provenance(png) == expected)

        var webp = try Pictures.bytes("good/webp-animated.webp")
        #expect(try await provenance(webp) == nil)
        webp += Array("C2PA".utf8) + store.count.littleEndian(4) + store + (store.count % 2 == 0 ? [] : [0])
        webp.replaceSubrange(4..<8, with: (webp.count - 8).littleEndian(4))
        #expect(try await provenance(webp) == expected)

        let box = ManifestFixture.box(store, purpose: "manifest")
        for name in ["avif-photo.avif", "heic-128.heif"] {
            let file = try Pictures.bytes("good/\(name)")
            #expect(try await provenance(file) == nil)
            #expect(try await provenance(file + box) == expected, "\(name)")
        }
    }

    @Test("Manifests without a readable label are told by their size, and other boxes don't count")
    func labels() async throws {
        func file(_ body: [UInt8]) -> [UInt8] {
            PNGDecoderTests.File(width: 1, height: 1, color: 0, chunks: [("caBX", body)], rows: [[0, 9]]).bytes
        }
        for label in ["", "a b", "\u{1b}[31m", "ä"] {
            let store = ManifestFixture.superbox("c2pa", ManifestFixture.superbox(label))
            #expect(
                try await provenance(file(store)) == Provenance(byteCount: store.count, manifests: 1, label: nil),
                "\(label)")
        }
        let empty = ManifestFixture.superbox("c2pa")
        #expect(try await provenance(file(empty)) == Provenance(byteCount: empty.count, manifests: 0, label: nil))
        // Bytes after the box aren't part of it.
        #expect(try await provenance(file(empty + [1, 2, 3]))?.byteCount == empty.count)
        for count in 0..<store.count { #expect(try await provenance(file(Array(store.prefix(count)))) == nil) }
        #expect(try await provenance(file(ManifestFixture.superbox("c2pb"))) == nil)
        #expect(try await provenance(file(ISOBox.bytes("jumb", []))) == nil)
    }

    @Test("An update of a manifest in an AVIF is the active one, wherever its box is")
    func updates() async throws {
        let update = ManifestFixture.superbox("c2pa", ManifestFixture.superbox("urn:c2pa:update"))
        let boxes = [ManifestFixture.box(update, purpose: "update"), ManifestFixture.box(store, purpose: "original")]
        let expected = Provenance(byteCount: store.count + update.count, manifests: 3, label: "urn:c2pa:update")
        let file = try Pictures.bytes("good/avif-photo.avif")
        for order in [boxes, boxes.reversed()] {
            #expect(try await provenance(file + order.joined()) == expected)
        }
    }

    @Test("The header of each format tells that there are manifests, and the trace of a decode that they aren't kept")
    func losses() async throws {
        for (name, _) in Self.formats {
            let file = try Pictures.bytes("good/\(name)")
            for (bytes, isSigned) in [(file, false), (try ManifestFixture.signed(file, with: store), true)] {
                let decoder = try #require(ImageCodecs.standard.codec(of: bytes)?.decoder)
                let header = try decoder.header(of: bytes, cancellation: WorkCancellation())
                #expect(header.hasProvenance == isSigned, "\(name)")
                #expect(header.losses?.contains("C2PA") == (isSigned ? true : nil), "\(name)")
            }
        }
        let signed = try ManifestFixture.signed(try Pictures.bytes("good/png-tbbn3p08.png"), with: store)
        let response = try await SampleImage.load(signed) {
            Decode()
            Encode(.png, options: EncodeOptions(metadata: .all))
        }
        #expect(
            response.trace.entries.contains { $0.note?.contains("manifest of provenance (C2PA) isn't kept") == true })
        #expect(try await provenance(try #require(response.encoded?.bytes)) == nil)
        let untouched = try await SampleImage.load(signed) { CheckHeader() }
        #expect(!untouched.trace.entries.contains { $0.note?.contains("C2PA") == true })
        #expect(untouched.encoded?.bytes == signed)
    }

    @Test("Boxes that aren't manifests aren't called a loss", arguments: ["other", "c2pb", "c2paa"])
    func others(label: String) throws {
        for (name, _) in Self.formats {
            let bytes = try ManifestFixture.signed(
                try Pictures.bytes("good/\(name)"), with: ManifestFixture.superbox(label))
            let decoder = try #require(ImageCodecs.standard.codec(of: bytes)?.decoder)
            #expect(try !decoder.header(of: bytes, cancellation: WorkCancellation()).hasProvenance, "\(name)")
        }
    }

    @Test("The address of manifests in XMP is told, and removed from the XMP of a new picture")
    func addresses() async throws {
        func packet(_ text: String) -> [UInt8] { Array("<x:xmpmeta><rdf:Description \(text)/></x:xmpmeta>".utf8) }
        let address = "https://example.org/m?a=1&amp;b=2"
        let url = "https://example.org/m?a=1&b=2"
        for (text, rest) in [
            (#"dcterms:provenance="\#(address)" a="b""#, #" a="b""#), ("dcterms:provenance = '\(address)'", ""),
            ("><dcterms:provenance>\(address)</dcterms:provenance><b", "><b"),
        ] {
            #expect(XMPRewriting.manifestURL(in: packet(text)) == url, "\(text)")
            #expect(XMPRewriting.withoutManifestURL(packet(text)) == packet(rest), "\(text)")
        }
        for text in [
            "", "dcterms:provenance", #"dcterms:provenance="#, #"dcterms:provenance=""#,
            #"dcterms:provenance="file:///a""#,
            "dcterms:provenance='https://a b'", "<dcterms:provenance>https://a", #"dcterms:provenanceOf="https://a""#,
            #"dcterms:provenance="https://\#(String(repeating: "a", count: 3000))""#,
        ] {
            #expect(XMPRewriting.manifestURL(in: packet(text)) == nil, "\(text)")
        }
        let pixels = DecodedImage(size: PixelSize(square: 1), layout: .gray, pixels: [9])
        let xmp = EmbeddedMetadata(xmp: packet(#"dcterms:provenance="\#(address)""#))
        let file = try EncodeOptions().file(of: pixels, .png, metadata: xmp)
        #expect(try await provenance(file) == Provenance(byteCount: 0, manifests: 0, label: nil, url: url))
        let made = try await SampleImage.load(file) {
            Decode()
            Encode(.png, options: EncodeOptions(metadata: .all))
        }
        let bytes = try #require(made.encoded?.bytes)
        #expect(try await provenance(bytes) == nil)
        #expect(try await ImageMetadata(of: bytes).xmpByteCount > 0)
    }

    @Test("Damaged and hostile segments of a JPEG give a result or an error")
    func hostile() async throws {
        let (header, middle) = (Array(store.prefix(8)), 200)
        let (first, second) = (Array(store.prefix(middle)), header + Array(store.dropFirst(middle)))
        let expected = Provenance(byteCount: store.count, manifests: 2, label: "urn:c2pa:active")
        // A repeated piece adds nothing to a box that is whole.
        #expect(try await provenance(jpeg([(1, 1, first), (1, 2, second), (1, 2, second)])) == expected)
        #expect(try await provenance(jpeg([(1, 2, second)])) == nil)
        let huge: [UInt8] = [0xff, 0xff, 0xff, 0xff] + Array(store.dropFirst(4))
        var long: [UInt8] = [0, 0, 0, 1] + Array("jumb".utf8) + [UInt8](repeating: 0xff, count: 8)
        long += store.dropFirst(8)
        for body in [[], [1], Array(store.prefix(7)), Array(store.prefix(40)), huge, long] {
            let file = try jpeg([(1, 1, body)])
            #expect(try await provenance(file) == nil)
            for keeps in [false, true] {
                let stripped = try await ImageCodecs.standard.stripped(
                    file, of: StrippedMetadata(isLocation: false, keepsProvenance: keeps))
                #expect(try await SampleImage.decode(stripped).pixels == (try await SampleImage.decode(file)).pixels)
            }
        }
        let many = try jpeg((1...5000).map { (box: 1, place: $0, bytes: $0 == 1 ? first : header) })
        #expect(try await provenance(many) == nil)
    }
}

extension ProvenanceTests {
    /// A picture of each format.
    private static let formats: [(String, ImageFormat)] = [
        ("jpeg-greyscale.jpg", .jpeg), ("png-apng-animated.png", .png), ("webp-lossy.webp", .webp),
        ("webp-animated.webp", .webp), ("avif-photo.avif", .avif), ("heic-128.heif", .heic),
    ]
}

import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("The manifests of a picture's provenance are found and described (C2PA 2.1, annex A)")
struct ProvenanceTests {
    private typealias Provenance = ImageMetadata.Provenance

    /// A superbox of JUMBF with a label and boxes.
    private static func superbox(_ label: String, _ boxes: [UInt8]...) -> [UInt8] {
        let type = Array("c2pa".utf8) + [0, 0x11, 0, 0x10, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        let description = ISOBox.bytes("jumd", type + [3] + Array(label.utf8) + [0])
        return ISOBox.bytes("jumb", description + boxes.joined())
    }

    private let store = superbox(
        "c2pa", superbox("urn:c2pa:first", ISOBox.bytes("cbor", [1, 2, 3])),
        superbox("urn:c2pa:active", ISOBox.bytes("cbor", [UInt8](repeating: 7, count: 300))))

    private func provenance(_ bytes: [UInt8]) async throws -> ImageMetadata.Provenance? {
        try await ImageMetadata(of: bytes).provenance
    }

    /// A JPEG with pieces of a box in segments, after its first marker.
    private func jpeg(_ pieces: [(box: Int, place: Int, bytes: [UInt8])]) throws -> [UInt8] {
        let source = try Pictures.bytes("good/jpeg-greyscale.jpg")
        var file = Array(source.prefix(2))
        for (box, place, bytes) in pieces {
            let length: [UInt8] = (bytes.count + 10).bigEndian(2)
            file += [0xff, 0xeb] + length + Array("JP".utf8)
            file += box.bigEndian(2)
            file += place.bigEndian(4)
            file += bytes
        }
        return file + source.dropFirst(2)
    }

    @Test("In the segments of a JPEG, whatever their order and other boxes")
    func jpegSegments() async throws {
        let (header, middle) = (Array(store.prefix(8)), 200)
        let (first, second) = (Array(store.prefix(middle)), header + store.dropFirst(middle))
        let other = Self.superbox("other", [])
        let expected = Provenance(byteCount: store.count, label: "urn:c2pa:active")
        #expect(try await provenance(jpeg([(1, 1, store)])) == expected)
        #expect(try await provenance(jpeg([(1, 1, other), (2, 1, first), (2, 2, second)])) == expected)
        #expect(try await provenance(jpeg([(2, 2, second), (1, 1, other), (2, 1, first)])) == expected)
        #expect(try await provenance(jpeg([(1, 1, other)])) == nil)
        #expect(try await provenance(jpeg([(2, 1, first)])) == nil)
    }

    @Test("In the chunk of a PNG and of a WebP, and in the box of an AVIF and of a HEIC")
    func chunks() async throws {
        let expected = Provenance(byteCount: store.count, label: "urn:c2pa:active")
        let png = PNGDecoderTests.File(width: 1, height: 1, color: 0, chunks: [("caBX", store)], rows: [[0, 9]]).bytes
        #expect(try await provenance(png) == expected)

        var webp = try Pictures.bytes("good/webp-animated.webp")
        #expect(try await provenance(webp) == nil)
        webp += Array("C2PA".utf8) + store.count.littleEndian(4) + store + (store.count % 2 == 0 ? [] : [0])
        webp.replaceSubrange(4..<8, with: (webp.count - 8).littleEndian(4))
        #expect(try await provenance(webp) == expected)

        let identifier: [UInt8] = [
            0xd8, 0xfe, 0xc3, 0xd6, 0x1b, 0x0e, 0x48, 0x3c, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7e, 0xc4, 0x81,
        ]
        let box = ISOBox.bytes(
            "uuid", identifier + [0, 0, 0, 0] + Array("manifest\0".utf8) + 0.bigEndian(8) + store)
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
            let store = Self.superbox("c2pa", Self.superbox(label))
            #expect(try await provenance(file(store)) == Provenance(byteCount: store.count, label: nil), "\(label)")
        }
        let empty = Self.superbox("c2pa")
        #expect(try await provenance(file(empty)) == Provenance(byteCount: empty.count, label: nil))
        // Bytes after the box aren't part of it.
        #expect(try await provenance(file(empty + [1, 2, 3]))?.byteCount == empty.count)
        for count in 0..<store.count { #expect(try await provenance(file(Array(store.prefix(count)))) == nil) }
        #expect(try await provenance(file(Self.superbox("c2pb"))) == nil)
        #expect(try await provenance(file(ISOBox.bytes("jumb", []))) == nil)
    }

    @Test("Stripping all metadata removes them")
    func stripped() async throws {
        let codecs = ImageCodecs.standard
        let files = [
            try jpeg([(1, 1, store)]),
            PNGDecoderTests.File(width: 1, height: 1, color: 0, chunks: [("caBX", store)], rows: [[0, 9]]).bytes,
        ]
        for file in files {
            #expect(try await provenance(file) != nil)
            #expect(try await provenance(try codecs.stripped(file, of: .all, WorkCancellation())) == nil)
        }
    }
}

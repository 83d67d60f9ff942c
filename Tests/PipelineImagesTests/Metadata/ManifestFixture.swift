import Pipeline
import Testing

@testable import PipelineImages

/// Makes files with manifests of provenance, whose signatures are none.
enum ManifestFixture {
    /// A piece of a box in a segment of a JPEG.
    typealias Piece = (box: Int, place: Int, bytes: [UInt8])

    /// A store of two manifests.
    static let store = superbox(
        "c2pa", superbox("urn:c2pa:first", ISOBox.bytes("cbor", [1, 2, 3])),
        superbox("urn:c2pa:active", ISOBox.bytes("cbor", [UInt8](repeating: 7, count: 300))))

    /// A superbox of JUMBF with a label and boxes.
    static func superbox(_ label: String, _ boxes: [UInt8]...) -> [UInt8] {
        let type = Array("c2pa".utf8) + [0, 0x11, 0, 0x10, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        let description = ISOBox.bytes("jumd", type + [3] + Array(label.utf8) + [0])
        return ISOBox.bytes("jumb", description + boxes.joined())
    }

    /// The box of an AVIF or HEIC.
    static func box(_ store: [UInt8], purpose: String) -> [UInt8] {
        let identifier: [UInt8] = [
            0xd8, 0xfe, 0xc3, 0xd6, 0x1b, 0x0e, 0x48, 0x3c, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7e, 0xc4, 0x81,
        ]
        return ISOBox.bytes("uuid", identifier + [0, 0, 0, 0] + Array("\(purpose)\0".utf8) + 0.bigEndian(8) + store)
    }

    /// A JPEG with pieces of boxes, after its first marker.
    static func jpeg(_ file: [UInt8], with pieces: [Piece]) -> [UInt8] {
        var result = Array(file.prefix(2))
        for (box, place, bytes) in pieces {
            result += [0xff, 0xeb] + (bytes.count + 10).bigEndian(2)
            result += Array("JP".utf8) + box.bigEndian(2) + place.bigEndian(4)
            result += bytes
        }
        return result + file.dropFirst(2)
    }

    /// A JPEG, PNG, WebP, AVIF or HEIC with a store.
    static func signed(_ file: [UInt8], with store: [UInt8] = store) throws -> [UInt8] {
        switch try #require(ImageCodecs.standard.codec(of: file)?.format) {
        case .jpeg: return jpeg(file, with: [(1, 1, store)])
        case .png:
            var writer = PNGWriter()
            writer.writeChunk("caBX", store)
            return Array(file[..<33]) + writer.chunks + file[33...]
        case .webp: return webp(file, with: "C2PA", store)
        default: return file + box(store, purpose: "manifest")
        }
    }

    /// A WebP with a chunk at its end, and as it is otherwise.
    static func webp(_ file: [UInt8], with name: String, _ body: [UInt8]) -> [UInt8] {
        var result = file
        result += Array(name.utf8) + body.count.littleEndian(4)
        result += body
        if body.count % 2 == 1 { result.append(0) }
        result.replaceSubrange(4..<8, with: (result.count - 8).littleEndian(4))
        return result
    }
}

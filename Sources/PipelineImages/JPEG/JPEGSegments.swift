import Pipeline

/// The segments of a JPEG file before its first scan (ISO/IEC 10918-1 annex B). They are parts of the file's bytes.
struct JPEGSegments {
    /// The first EXIF block with its prefix, and the first XMP packet; empty without one.
    private(set) var exif: ArraySlice<UInt8> = []
    private(set) var xmp: ArraySlice<UInt8> = []
    /// The pieces of the ICC profile, by their numbers.
    private var profile: [Int: ArraySlice<UInt8>] = [:]
    /// The index of the pictures in the file (CIPA DC-007), from its byte order on.
    private(set) var pictureIndex: ArraySlice<UInt8>?
    /// The metadata of ISO 21496-1.
    private(set) var gainMapMetadata: ArraySlice<UInt8>?
    /// The size and the number of colour components, as the header of the first frame says.
    private(set) var size: PixelSize?
    private(set) var components: Int?
    /// The pieces of JUMBF boxes (ISO/IEC 19566-5 annex D), without their marker's name.
    private(set) var boxPieces: [ArraySlice<UInt8>] = []
    /// The offset of the first scan; `nil` if there is none.
    private(set) var scan: Int?

    /// - Parameter bytes: A whole file, or what follows a picture's beginning in one.
    init(_ bytes: ArraySlice<UInt8>, _ cancellation: WorkCancellation) throws {
        var steps = 0
        var rest = bytes.dropFirst(2)
        while let marker = rest.number(at: 0, bytes: 2) {
            steps += 1
            if steps % 4096 == 0 { try cancellation.check() }
            // Any number of fill bytes may precede a marker, and some programs leave other bytes there. Reserved
            // markers are skipped too.
            guard Self.hasLength(marker) else {
                let next = rest.dropFirst().firstIndex(of: 0xff) ?? rest.endIndex
                rest = rest[next...]
                continue
            }
            if marker == 0xffd9 { break }
            if marker == 0xffda { scan = rest.startIndex }
            guard marker != 0xffda, let length = rest.number(at: 2, bytes: 2), length >= 2,
                let body = rest.slice(at: 4, count: length - 2)
            else { break }
            take(marker, body)
            rest = rest.dropFirst(2 + length)
        }
    }

    /// The blocks of metadata, copied.
    var metadata: EmbeddedMetadata {
        EmbeddedMetadata(
            exif: EmbeddedMetadata.exif(Array(exif)), xmp: Array(xmp),
            profile: profile.sorted { $0.key < $1.key }.flatMap(\.value))
    }

    /// The numbers of the boxes that hold manifests of provenance.
    var manifestStores: Set<Int> {
        Set(boxPieces.filter { ManifestStore.begins($0.dropFirst(6)) }.compactMap { $0.number(at: 0, bytes: 2) })
    }

    /// Whether a segment with a length begins with a marker: neither a restart nor a reserved one, at which libjpeg continues
    /// with the next byte.
    static func hasLength(_ marker: Int) -> Bool {
        switch marker {
        case 0xffc0...0xffcf, 0xffd9...0xffef, 0xfffe: true
        default: false
        }
    }

    private mutating func take(_ marker: Int, _ body: ArraySlice<UInt8>) {
        switch marker {
        case 0xffc0...0xffcf where ![0xffc4, 0xffc8, 0xffcc].contains(marker) && size == nil:
            guard let height = body.number(at: 1, bytes: 2), let width = body.number(at: 3, bytes: 2) else { return }
            size = PixelSize(width: width, height: height)
            components = body.number(at: 5, bytes: 1)
        case 0xffe1:
            let xmp = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
            // The first block counts even if it makes no sense, as it does for the orientation in the header.
            if body.starts(with: xmp), self.xmp.isEmpty {
                self.xmp = body.dropFirst(xmp.count)
            } else if body.starts(with: "Exif\0".utf8), exif.isEmpty {
                exif = body
            }
        case 0xffe2: takeParts(body)
        case 0xffeb where body.starts(with: "JP".utf8): boxPieces.append(body.dropFirst(2))
        default: break
        }
    }

    /// Reads a segment APP2, which has several uses.
    private mutating func takeParts(_ body: ArraySlice<UInt8>) {
        let name = body.prefix { $0 != 0 }
        let content = body.dropFirst(name.count + 1)
        if name.elementsEqual("ICC_PROFILE".utf8) {
            // The number of the piece, from 1, and how many there are.
            guard let index = content.number(at: 0, bytes: 1) else { return }
            profile[index] = content.dropFirst(2)
        } else if name.elementsEqual("MPF".utf8), pictureIndex == nil {
            pictureIndex = content
        } else if name.elementsEqual("urn:iso:std:iso:ts:21496:-1".utf8), gainMapMetadata == nil {
            gainMapMetadata = content
        }
    }
}

import Pipeline
/// The segments of a JPEG file before its first scan (ISO/IEC 10918-1 annex B).
struct JPEGSegments {
    private(set) var metadata = EmbeddedMetadata()
    private var hasEXIF = false
    /// The pieces of JUMBF boxes (ISO/IEC 19566-5 annex D), without their marker's name.
    private(set) var boxPieces: [ArraySlice<UInt8>] = []
    /// The offset of the first scan; `nil` if there is none.
    private(set) var scan: Int?

    init(_ bytes: [UInt8], _ cancellation: WorkCancellation) throws {
        var steps = 0
        var profile: [Int: ArraySlice<UInt8>] = [:]
        var rest = bytes[...].dropFirst(2)
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
            take(marker, body, &profile)
            rest = rest.dropFirst(2 + length)
        }
        metadata.profile = profile.sorted { $0.key < $1.key }.flatMap(\.value)
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

    private mutating func take(_ marker: Int, _ body: ArraySlice<UInt8>, _ profile: inout [Int: ArraySlice<UInt8>]) {
        switch marker {
        case 0xffe1:
            let xmp = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
            if body.starts(with: xmp), metadata.xmp.isEmpty {
                metadata.xmp = Array(body.dropFirst(xmp.count))
            } else if body.starts(with: "Exif\0".utf8), !hasEXIF {
                // The first block counts even if it makes no sense, as it does for the orientation in the header.
                hasEXIF = true
                metadata.exif = EmbeddedMetadata.exif(Array(body))
            }
        case 0xffe2:
            // The number of the piece, from 1, and how many there are.
            let name = Array("ICC_PROFILE\0".utf8)
            guard body.starts(with: name), let index = body.number(at: name.count, bytes: 1) else { return }
            profile[index] = body.dropFirst(name.count + 2)
        case 0xffeb where body.starts(with: "JP".utf8): boxPieces.append(body.dropFirst(2))
        default: break
        }
    }
}

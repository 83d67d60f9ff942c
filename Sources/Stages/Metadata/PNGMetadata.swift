/// What a PNG file carries beside its pixels (ISO/IEC 15948 clause 11.3).
enum PNGMetadata {
    static func read(_ bytes: [UInt8]) -> EmbeddedMetadata {
        var metadata = EmbeddedMetadata()
        var rest = bytes[...].dropFirst(8)
        while let length = rest.number(at: 0, bytes: 4), let type = rest.slice(at: 4, count: 4),
            let body = rest.slice(at: 8, count: length)
        {
            switch String(decoding: type, as: UTF8.self) {
            case "eXIf": metadata.exif = EmbeddedMetadata.exif(Array(body))
            case "iCCP": metadata.profile = inflated(body) ?? []
            case "iTXt": metadata.xmp = xmp(body) ?? metadata.xmp
            default: break
            }
            rest = rest.dropFirst(12 + length)
        }
        return metadata
    }

    /// A name, a zero, the method, and the packed profile.
    private static func inflated(_ body: ArraySlice<UInt8>) -> [UInt8]? {
        guard let name = body.firstIndex(of: 0), name + 2 <= body.endIndex else { return nil }
        return inflate(body[(name + 2)...])
    }

    /// The keyword, whether it is packed, the method, the language, the keyword in it, and the text.
    private static func xmp(_ body: ArraySlice<UInt8>) -> [UInt8]? {
        let keyword = Array("XML:com.adobe.xmp\0".utf8)
        guard body.starts(with: keyword), let packed = body.number(at: keyword.count, bytes: 1) else { return nil }
        let names = body.dropFirst(keyword.count + 2)
        guard let language = names.firstIndex(of: 0), let translated = names[(language + 1)...].firstIndex(of: 0)
        else { return nil }
        let text = names[(translated + 1)...]
        return packed == 0 ? Array(text) : inflate(text)
    }

    /// At most 4 MB: deflate makes at most a thousandfold of its bytes.
    private static func inflate(_ stream: ArraySlice<UInt8>) -> [UInt8]? {
        Inflation.bytes(of: stream, upTo: min(4 << 20, stream.count * 1040))
    }
}

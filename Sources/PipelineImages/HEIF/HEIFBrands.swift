#if AVIF || HEIC
/// The `ftyp` box at the beginning of a HEIF file (ISO/IEC 14496-12 section 4.3).
enum HEIFBrands {
    /// Returns how the file's pictures are coded; `nil` if it isn't a HEIF file.
    static func codec(of bytes: [UInt8]) -> HEIFCodedItem.Codec? {
        guard bytes.has("ftyp", at: 4) else { return nil }
        let size = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let end = min(size, bytes.count, 512)
        // The major brand, then the compatible ones.
        let offsets = ([8] + stride(from: 16, to: end, by: 4)).filter { $0 + 4 <= end }
        let brands = offsets.map { String(decoding: bytes[$0..<$0 + 4], as: UTF8.self) }
        for brand in brands {
            switch brand {
            case "avif", "avis": return .av1
            case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": return .hevc
            default: continue
            }
        }
        return brands.contains { ["mif1", "msf1", "miaf"].contains($0) } ? configuredCodec(of: bytes) : nil
    }

    /// The compatible brands in the content of the box: the major one and a version come first.
    static func names(in content: ArraySlice<UInt8>) -> [String] {
        stride(from: 8, to: min(content.count, 512) - 3, by: 4).compactMap { place in
            content.slice(at: place, count: 4).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// The general HEIF brands don't tell the codec. Its configuration box does, which is near the beginning.
    private static func configuredCodec(of bytes: [UInt8]) -> HEIFCodedItem.Codec? {
        let start = bytes.prefix(1 << 16)
        if start.firstRange(of: Array("hvcC".utf8)) != nil { return .hevc }
        return start.firstRange(of: Array("av1C".utf8)) != nil ? .av1 : nil
    }
}
#endif

#if JPEGXL
import Pipeline

/// The container of a JPEG XL file (ISO/IEC 18181-2).
///
/// libjxl 0.7 reads containers too, but not boxes with sizes of 64 bits.
enum JPEGXLContainer {
    /// The first box of every container.
    static let signature: [UInt8] = [0, 0, 0, 12, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a]

    /// Whether a file is a codestream without a container.
    static func isBare(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0xff, 0x0a]) }

    /// Returns the codestream of a file, assembled from its parts.
    /// - Throws: `undecodable` if there is none.
    static func codestream(of bytes: [UInt8]) throws(LoadError) -> [UInt8] {
        guard !isBare(bytes) else { return bytes }
        // Far more parts than a genuine file has.
        var budget = 10_000
        let boxes = ISOBox.boxes(in: bytes[...], budget: &budget)
        guard budget > 0 else { throw JPEGXLFile.damaged("it has too many parts") }
        if let whole = boxes.first(where: { $0.type == "jxlc" }) { return Array(whole.content) }
        // Each part begins with its number, whose highest bit marks the last.
        let parts = boxes.filter { $0.type == "jxlp" }.map(\.content)
        for (index, part) in parts.enumerated() {
            guard part.number(at: 0, bytes: 4).map({ $0 & 0x7fff_ffff }) == index else {
                throw JPEGXLFile.damaged("part \(index + 1) is missing")
            }
        }
        guard !parts.isEmpty else { throw JPEGXLFile.damaged("it has no picture") }
        return Array(parts.map { $0.dropFirst(4) }.joined())
    }
}
#endif

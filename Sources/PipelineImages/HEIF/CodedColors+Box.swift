#if AVIF || HEIC
import Pipeline

extension CodedColors {
    /// Reads a property `colr` of the kind `nclx` (ISO/IEC 14496-12 section 12.1.5); `nil` for other kinds.
    init?(nclx content: ArraySlice<UInt8>) {
        guard content.prefix(4).elementsEqual("nclx".utf8), let primaries = content.number(at: 4, bytes: 2),
            let transfer = content.number(at: 6, bytes: 2), let matrix = content.number(at: 8, bytes: 2),
            let range = content.number(at: 10, bytes: 1)
        else { return nil }
        self.init(primaries: primaries, transfer: transfer, matrix: matrix, isFullRange: range & 0x80 != 0)
    }
}
#endif

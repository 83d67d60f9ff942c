#if GIF
/// A frame's description in the file (GIF89a sections 20 and 23).
struct GIFFrame {
    /// What happens to the frame before the next one is drawn.
    enum Disposal {
        case stays
        case isCleared
        case isTakenBack
    }

    var left = 0
    var top = 0
    var width = 0
    var height = 0
    var isInterlaced = false
    /// How long it is shown, in hundredths of a second. The default applies if the file doesn't say.
    var delay = 10
    var disposal = Disposal.stays
    /// The index of the transparent colour.
    var transparent: Int?
    /// The range of its own colour table, three bytes a colour.
    var palette: Range<Int>?
    /// The offset of its pixels: the code size, then the data in blocks.
    var start = 0

    /// Reads the fields of a control block.
    mutating func setControl(flags: UInt8, transparent index: UInt8) {
        transparent = flags & 1 != 0 ? Int(index) : nil
        disposal =
            switch flags >> 2 & 7 {
            case 2: .isCleared
            // Some programs write 4 for 3.
            case 3, 4: .isTakenBack
            default: .stays
            }
    }

    /// The frame's rows in stored order (appendix E).
    var rows: [Int] {
        guard isInterlaced else { return Array(0..<height) }
        return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: height, by: $0.1)) }
    }
}
#endif

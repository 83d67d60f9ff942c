/// A frame as its file describes it (GIF89a sections 20 and 23).
struct GIFFrame {
    /// What becomes of the frame before the next one is drawn.
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
    /// How long it shows, in hundredths of a second; so long where the file doesn't say.
    var delay = 10
    var disposal = Disposal.stays
    /// The index that leaves what is there.
    var transparent: Int?
    /// Where its own colours are, three bytes each.
    var palette: Range<Int>?
    /// Where its pixels begin: the size of the codes, then the data in blocks.
    var start = 0

    /// Takes over what a control block says.
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

    /// The frame's rows in the order in which they are stored (appendix E).
    var rows: [Int] {
        guard isInterlaced else { return Array(0..<height) }
        return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: height, by: $0.1)) }
    }
}

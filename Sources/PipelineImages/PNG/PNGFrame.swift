#if PNG
import Pipeline

/// A frame of an animated PNG as its control chunk describes it (PNG, third edition, section 11.3.6.2).
struct PNGFrame {
    /// What happens to the frame's rectangle before the next frame is drawn.
    enum Disposal: Int {
        case stays = 0
        case isCleared = 1
        case isTakenBack = 2
    }

    let left: Int
    let top: Int
    let size: PixelSize
    let delay: Duration
    var disposal: Disposal
    /// Whether it is blended over the canvas; otherwise it replaces the pixels there.
    let isBlended: Bool
    /// Whether its pixels are those of the still picture.
    let isPicture: Bool
    /// The pieces of its compressed pixels, each after a sequence number of four bytes; none if it is the picture.
    var pieces: [PNGChunk] = []

    /// Reads a control chunk. Returns `nil` unless it describes a rectangle of the canvas.
    init?(_ fields: ArraySlice<UInt8>, isPicture: Bool, canvas: PixelSize) {
        func number(_ offset: Int, _ length: Int) -> Int { fields.number(at: offset, bytes: length) ?? 0 }
        guard fields.count == 26, let disposal = Disposal(rawValue: number(24, 1)), number(25, 1) <= 1 else {
            return nil
        }
        size = PixelSize(width: number(4, 4), height: number(8, 4))
        (left, top) = (number(12, 4), number(16, 4))
        guard size.width > 0, size.height > 0, left + size.width <= canvas.width, top + size.height <= canvas.height,
            !isPicture || size == canvas
        else { return nil }
        // A denominator of 0 means hundredths of a second.
        let (parts, second) = (number(20, 2), number(22, 2))
        delay = .milliseconds(Int((Double(parts * 1000) / Double(second == 0 ? 100 : second)).rounded()))
        self.disposal = disposal
        isBlended = number(25, 1) == 1
        self.isPicture = isPicture
    }

    /// The size of its compressed pixels in bytes; 0 if it is the picture.
    var compressedLength: Int { pieces.reduce(0) { $0 + $1.body.count } }
}
#endif

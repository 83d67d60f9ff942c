#if AVIF || HEIC
import Pipeline

/// The crop and the turns that a picture's properties ask for (ISO/IEC 23008-12 sections 6.5.9 to 6.5.12).
///
/// Properties apply in the order of their association. Whatever the order, the result equals a crop of the stored
/// pixels followed by a turn.
struct HEIFGeometry: Hashable {
    /// The crop, in stored pixels.
    private(set) var left = 0
    private(set) var top = 0
    private(set) var size: PixelSize
    /// The picture is mirrored left to right, then turned this many times by 90° counterclockwise.
    private var isMirrored = false
    private var turns = 0

    /// - Throws: `damaged` if a crop is invalid.
    init(of canvas: PixelSize, _ properties: [ISOBox], damaged: (String) -> LoadError) throws {
        size = canvas
        for property in properties {
            switch property.type {
            case "clap":
                guard let area = Area(property.content, of: orientation.applied(to: size)) else {
                    throw damaged("it is cropped to nothing")
                }
                crop(to: area)
            case "irot": turns = (turns + Int(property.content.first ?? 0) & 3) & 3
            case "imir":
                // Swapping top and bottom equals swapping left and right, turned by 180°.
                let isUpright = (property.content.first ?? 0) & 1 == 1
                isMirrored.toggle()
                turns = ((isUpright ? 0 : 2) - turns) & 3
            default: continue
            }
        }
    }

    /// How the stored pixels are turned upright.
    var orientation: ImageOrientation {
        let all: [ImageOrientation] =
            isMirrored ? [.upMirrored, .leftMirrored, .downMirrored, .rightMirrored] : [.up, .left, .down, .right]
        return all[turns]
    }

    /// Whether nothing is cropped.
    func isWhole(_ canvas: PixelSize) -> Bool { size == canvas }

    /// A rectangle in a picture.
    private struct Area {
        var left, top, width, height: Int

        /// Reads the box `clap`: the size, then the distances of the centres, as fractions. Returns `nil` if nothing is
        /// left.
        init?(_ content: ArraySlice<UInt8>, of size: PixelSize) {
            func fraction(_ index: Int) -> Double? {
                guard let above = content.number(at: 8 * index, bytes: 4),
                    let below = content.number(at: 8 * index + 4, bytes: 4), below > 0
                else { return nil }
                return Double(Int32(truncatingIfNeeded: above)) / Double(below)
            }
            guard let width = fraction(0), let height = fraction(1), let across = fraction(2), let down = fraction(3)
            else { return nil }
            // All values are below 2³³, so nothing overflows.
            let left = Int((across + (Double(size.width) - width) / 2).rounded(.down))
            let top = Int((down + (Double(size.height) - height) / 2).rounded(.down))
            let right = min(size.width, left + Int(width.rounded()))
            let bottom = min(size.height, top + Int(height.rounded()))
            (self.left, self.top) = (max(0, left), max(0, top))
            (self.width, self.height) = (right - self.left, bottom - self.top)
            guard self.width > 0, self.height > 0 else { return nil }
        }

        /// The rectangle after a turn by 90° counterclockwise.
        func turned(in frame: PixelSize) -> Area {
            var area = self
            (area.left, area.top) = (top, frame.width - left - width)
            (area.width, area.height) = (height, width)
            return area
        }
    }

    private mutating func crop(to area: Area) {
        var area = area
        var frame = orientation.applied(to: size)
        // Turning on to a full circle undoes the turns.
        for _ in 0..<(4 - turns) & 3 {
            area = area.turned(in: frame)
            frame = PixelSize(width: frame.height, height: frame.width)
        }
        if isMirrored { area.left = frame.width - area.left - area.width }
        left += area.left
        top += area.top
        size = PixelSize(width: area.width, height: area.height)
    }
}
#endif

#if GIF
import Pipeline

/// A frame's rectangle on the canvas.
struct GIFWindow {
    var columns: Range<Int>
    var rows: Range<Int>

    init(columns: Range<Int>, rows: Range<Int>) {
        self.columns = columns
        self.rows = rows
    }

    /// A window from the top left corner.
    init(all size: PixelSize) { self.init(columns: 0..<size.width, rows: 0..<size.height) }

    /// The smallest window that contains both.
    static func around(_ first: GIFWindow?, _ second: GIFWindow?) -> GIFWindow? {
        guard let first, let second else { return first ?? second }
        return GIFWindow(
            columns: min(
                first.columns.lowerBound, second.columns.lowerBound)..<max(
                    first.columns.upperBound, second.columns.upperBound),
            rows: min(
                first.rows.lowerBound, second.rows.lowerBound)..<max(first.rows.upperBound, second.rows.upperBound))
    }
}
#endif

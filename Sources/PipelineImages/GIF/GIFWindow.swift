import Pipeline

/// Where on the canvas a frame lies.
struct GIFWindow {
    var columns: Range<Int>
    var rows: Range<Int>

    init(columns: Range<Int>, rows: Range<Int>) {
        self.columns = columns
        self.rows = rows
    }

    /// So much from the top left.
    init(all size: PixelSize) { self.init(columns: 0..<size.width, rows: 0..<size.height) }

    /// The smallest that has both.
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

#if SVG
import Pipeline

/// Refuses SVGs that librsvg can't draw in a few seconds, before it reads them. Ordinary files stay far below.
///
/// Filters, masks and patterns aren't looked at. Their cost is limited by the time of the load alone.
enum SVGBounds {
    /// The most bytes, decompressed.
    static let bytes = 16_000_000
    /// The most elements. libxml2 and librsvg take more than a kilobyte for each.
    static let elements = 500_000
    /// The most steps of finding styles, each of which takes 10 to 30 ns.
    static let styleSteps = 100_000_000
    /// The most comparisons of attributes with each other, each of which takes 0.2 ns.
    static let comparisons = 5_000_000_000
    /// The longest text without a tag, in characters. Pango's time grows with its square: 4,000 Chinese or Indian
    /// characters take about two seconds.
    static let textLength = 2_500
    /// The most that the squares of all texts' lengths may add up to.
    static let textSquares = 50_000_000

    /// The most pixels of all different pictures in `data:` URLs.
    static let pixels = 50_000_000

    /// - Throws: `LoadError` with `tooMuchTime` or `tooMuchMemory`, with what there is too much of.
    static func check(_ scan: SVGScan) throws(LoadError) {
        guard scan.elements <= elements else {
            throw LoadError(
                .tooMuchMemory, subject: "",
                "The SVG has \(scan.elements) elements; \(elements) are allowed. Simplify it, or split it.")
        }
        guard scan.styleSteps <= styleSteps else {
            throw LoadError(
                .tooMuchTime, subject: "",
                "The SVG's style sheets take \(scan.styleSteps) steps for its \(scan.elements) elements; \(styleSteps) are "
                    + "allowed. Use fewer or simpler selectors.")
        }
        guard scan.comparisons <= comparisons else {
            throw LoadError(
                .tooMuchTime, subject: "",
                "The SVG's \(scan.attributes) attributes take \(scan.comparisons) comparisons; \(comparisons) are allowed. "
                    + "Use fewer attributes for an element.")
        }
        guard scan.longestText <= textLength else {
            throw LoadError(
                .tooMuchTime, subject: "",
                "The SVG has a text of \(scan.longestText) characters; \(textLength) are allowed. Divide it into lines."
            )
        }
        guard scan.textSquares <= textSquares else {
            throw LoadError(
                .tooMuchTime, subject: "",
                "The SVG has too many long texts: the squares of their lengths add up to \(scan.textSquares); "
                    + "\(textSquares) are allowed. Divide them into lines.")
        }
    }

    /// - Parameter detail: What the bytes are, such as "decompressed".
    /// - Throws: `LoadError` with `tooManyBytes`.
    static func check(bytes count: Int, _ detail: String = "") throws(LoadError) {
        guard count > bytes else { return }
        throw LoadError(
            .tooManyBytes, subject: "",
            "The SVG has \(count) bytes\(detail); \(bytes) are allowed. Simplify it, or split it.")
    }

    /// - Throws: `LoadError` with `tooManyPixels`.
    static func check(pixels count: Int) throws(LoadError) {
        guard count > pixels else { return }
        throw LoadError(
            .tooManyPixels, subject: "",
            "The pictures in the SVG have \(count) pixels; \(pixels) are allowed. Reduce them.")
    }
}
#endif

import CImages
import Glibc
import Pipeline

/// What shows of an animation while it is written, so that of the next frame only what differs has to be.
final class GIFShownFrame {
    private let image: DecodedImage
    private let size: PixelSize
    private let channels: Int
    /// RGBA, clear where nothing shows.
    private let shown: UnsafeMutablePointer<UInt8>
    /// For each pixel of the current frame 1 if it is the same as in the one before and still shows.
    let same: UnsafeMutablePointer<UInt8>

    /// Nothing shows.
    init(of image: DecodedImage) throws(LoadError) {
        self.image = image
        size = image.size
        channels = image.layout.channelCount
        guard let shown = calloc(size.width * size.height, 4) else { throw Palette.outOfMemory }
        guard let same = calloc(size.width * size.height, 1) else {
            free(shown)
            throw Palette.outOfMemory
        }
        self.shown = shown.assumingMemoryBound(to: UInt8.self)
        self.same = same.assumingMemoryBound(to: UInt8.self)
    }

    deinit {
        free(shown)
        free(same)
    }

    /// Finds out which pixels of a frame are the ``same`` as in the one before.
    /// - Throws: `CancellationError`.
    func compare(_ number: Int, _ cancellation: WorkCancellation) throws {
        try image.withPixels(ofFrame: number) { pixels in
            try image.withPixels(ofFrame: number - 1) { before in
                guard let new = pixels.baseAddress, let old = before.baseAddress else { return }
                try forEachRow(cancellation) { y in
                    let (first, offset) = (y * size.width, y * size.width * channels)
                    cgif_compare(
                        new + offset, old + offset, size.width, Int32(channels), GIFEncoder.threshold,
                        shown + 4 * first, same + first)
                }
            }
        }
    }

    /// Shows a frame. Where it changes nothing its indices become `clear`.
    /// - Returns: where it changes something.
    /// - Throws: `CancellationError`.
    func show(
        _ indices: UnsafeMutablePointer<UInt8>, _ palette: Palette, clear: Int, _ cancellation: WorkCancellation
    ) throws -> GIFWindow? {
        try window(cancellation) { y in
            cgif_show(indices + y * size.width, size.width, palette.colours, Int32(clear), shown + 4 * y * size.width)
        }
    }

    /// Where something shows that the next frame is clear of.
    /// - Throws: `CancellationError`.
    func uncovered(by number: Int, _ cancellation: WorkCancellation) throws -> GIFWindow? {
        guard channels == 4 else { return nil }
        return try image.withPixels(ofFrame: number) { next in
            guard let start = next.baseAddress else { return nil }
            return try window(cancellation) { y in
                cgif_uncovered(
                    start + 4 * y * size.width, size.width, 4, GIFEncoder.threshold, shown + 4 * y * size.width)
            }
        }
    }

    /// Shows nothing any more where a frame was.
    /// - Throws: `CancellationError`.
    func clear(_ window: GIFWindow, _ cancellation: WorkCancellation) throws {
        try forEachRow(cancellation) { y in
            guard window.rows.contains(y) else { return }
            (shown + 4 * (y * size.width + window.columns.lowerBound))
                .update(repeating: 0, count: 4 * window.columns.count)
        }
    }

    private func forEachRow(_ cancellation: WorkCancellation, _ body: (Int) -> Void) throws {
        let rows = max(1, PaletteRows.pixelsBetweenChecks / size.width)
        for y in 0..<size.height {
            if y % rows == 0 { try cancellation.check() }
            body(y)
        }
    }

    /// The window around the parts of all rows.
    private func window(_ cancellation: WorkCancellation, _ part: (Int) -> cgif_span) throws -> GIFWindow? {
        var window: GIFWindow?
        try forEachRow(cancellation) { y in
            let span = part(y)
            guard span.start < span.end else { return }
            window = .around(window, GIFWindow(columns: span.start..<span.end, rows: y..<y + 1))
        }
        return window
    }
}

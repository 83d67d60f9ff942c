#if GIF
import CImages
import LibC
import Pipeline

/// Tracks what is shown while an animation is written, so that each frame is reduced to its differences.
final class GIFShownFrame {
    private let image: DecodedImage
    private let size: PixelSize
    private let channels: Int
    /// The shown pixels in RGBA, transparent where nothing is shown.
    private let shown: UnsafeMutablePointer<UInt8>
    /// 1 for each pixel of the current frame that is the same as in the previous one and still shown.
    let same: UnsafeMutablePointer<UInt8>

    /// Starts with nothing shown.
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

    /// Sets ``same`` by comparing a frame with the previous one.
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

    /// Shows a frame. Indices that change nothing become `clear`.
    /// - Returns: The window that changes.
    /// - Throws: `CancellationError`.
    func show(
        _ indices: UnsafeMutablePointer<UInt8>, _ palette: Palette, clear: Int, _ cancellation: WorkCancellation
    ) throws -> GIFWindow? {
        try window(cancellation) { y in
            cgif_show(indices + y * size.width, size.width, palette.colors, Int32(clear), shown + 4 * y * size.width)
        }
    }

    /// Returns the window that is shown but transparent in the next frame.
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

    /// Clears a window.
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

    /// Returns the smallest window around a part of each row.
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
#endif

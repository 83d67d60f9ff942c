import CImages
import Pipeline

/// Counts how often each colour occurs. If there are very many colours, similar ones count as one.
final class ColorHistogram {
    let pointer: OpaquePointer
    private let format: cpalette_format

    /// - Parameter effort: From 1 to 10. A higher effort distinguishes more colours.
    init(format: cpalette_format, effort: Int) throws(LoadError) {
        guard let pointer = cpalette_histogram_new(2048 * effort) else { throw Palette.outOfMemory }
        self.pointer = pointer
        self.format = format
    }

    deinit { cpalette_histogram_free(pointer) }

    /// Whether no colour was counted.
    var isEmpty: Bool { cpalette_histogram_count(pointer) == 0 }

    /// Whether a pixel is transparent, which doesn't count as a colour.
    var isPartlyClear: Bool { cpalette_histogram_is_partly_clear(pointer) }

    /// Counts a frame's pixels.
    /// - Parameter leftOut: For each pixel, whether to skip it.
    /// - Throws: `CancellationError`.
    func add(
        _ pixels: UnsafeBufferPointer<UInt8>, leftOut: UnsafePointer<UInt8>? = nil, _ cancellation: WorkCancellation
    ) throws {
        let channels = Int(format.channels)
        guard let start = pixels.baseAddress else { return }
        let count = pixels.count / channels
        for first in stride(from: 0, to: count, by: PaletteRows.pixelsBetweenChecks) {
            try cancellation.check()
            cpalette_histogram_add(
                pointer, start + first * channels, leftOut.map { $0 + first },
                min(PaletteRows.pixelsBetweenChecks, count - first), format)
        }
    }
}

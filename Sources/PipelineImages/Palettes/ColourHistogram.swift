import CImages
import Pipeline

/// Which colours pixels have, and how often each occurs. Where there are very many, colours that are alike count as one.
final class ColourHistogram {
    let pointer: OpaquePointer
    private let format: cpalette_format

    /// - Parameter effort: from 1 to 10; the more, the more colours are told apart.
    init(format: cpalette_format, effort: Int) throws(LoadError) {
        guard let pointer = cpalette_histogram_new(2048 * effort) else { throw Palette.outOfMemory }
        self.pointer = pointer
        self.format = format
    }

    deinit { cpalette_histogram_free(pointer) }

    /// Whether there is no colour.
    var isEmpty: Bool { cpalette_histogram_count(pointer) == 0 }

    /// Whether a pixel is clear, which isn't a colour.
    var isPartlyClear: Bool { cpalette_histogram_is_partly_clear(pointer) }

    /// Counts a frame's pixels.
    /// - Parameter leftOut: for each pixel whether it isn't counted.
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

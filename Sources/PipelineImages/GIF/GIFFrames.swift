#if GIF
import CImages
import Pipeline

/// Turns a picture's frames into palette indices. The first frame's palette is the file's, which later frames share if
/// it suits them.
final class GIFFrames {
    /// The indices of the frame drawn last, on the whole canvas.
    let indices: UnsafeMutablePointer<UInt8>
    /// The file's palette; `nil` until a frame is drawn.
    private(set) var global: Palette?
    private var last: Palette?
    private let image: DecodedImage
    private let options: EncodeOptions.GIF
    private let format: cpalette_format

    /// - Parameter indices: Space for each pixel of a frame. It has to outlive this object.
    init(_ image: DecodedImage, _ options: EncodeOptions.GIF, indices: UnsafeMutablePointer<UInt8>) {
        self.image = image
        self.options = options
        self.indices = indices
        format = cpalette_format(channels: Int32(image.layout.channelCount), threshold: GIFEncoder.threshold)
    }

    /// Sets ``indices`` to those of a frame.
    /// - Parameter same: For each pixel, whether it is left as it is shown.
    /// - Returns: The frame's palette, and whether some pixels are transparent or left unchanged. Those have the index
    ///   after the palette's colours.
    /// - Throws: `CancellationError`; `LoadError.Code.unencodable`.
    func draw(
        _ number: Int, same: UnsafePointer<UInt8>?, _ cancellation: WorkCancellation
    ) throws -> (Palette, isPartlyClear: Bool) {
        let histogram = try ColorHistogram(format: format, effort: options.effort)
        return try image.withPixels(ofFrame: number) { pixels in
            try histogram.add(pixels, leftOut: same, cancellation)
            let palette = try palette(for: histogram, cancellation)
            let rows = try PaletteRows(
                pixels, size: image.size, format: format, palette: palette, dither: options.dither,
                clear: palette.count, leftOut: same)
            for y in 0..<image.height { try rows.writeNext(to: indices + y * image.width, cancellation) }
            return (palette, histogram.isPartlyClear)
        }
    }

    private func palette(for histogram: ColorHistogram, _ cancellation: WorkCancellation) throws -> Palette {
        for known in [global, last] {
            guard let known else { continue }
            try cancellation.check()
            if histogram.isEmpty || known.suits(histogram) { return known }
        }
        let most = (1...8).reversed().lazy.map { 1 << $0 }.first { $0 <= options.colors } ?? 2
        // One index is reserved for transparency.
        let made = try Palette(
            of: histogram, most: image.isAnimated || histogram.isPartlyClear ? min(255, most) : most,
            beginsClear: false, effort: options.effort, cancellation)
        if global == nil { global = made }
        last = made
        return made
    }
}
#endif

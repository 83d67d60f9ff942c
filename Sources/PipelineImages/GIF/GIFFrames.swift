import CImages
import Pipeline

/// A picture's frames as indices of palettes. The first frame's palette is the file's, which all use that it suits.
final class GIFFrames {
    /// Of the whole canvas, for the frame that was drawn last.
    let indices: UnsafeMutablePointer<UInt8>
    /// The file's palette, once a frame is drawn.
    private(set) var global: Palette?
    private var last: Palette?
    private let image: DecodedImage
    private let options: EncodeOptions.GIF
    private let format: cpalette_format

    /// - Parameter indices: room for each pixel of a frame; has to stay.
    init(_ image: DecodedImage, _ options: EncodeOptions.GIF, indices: UnsafeMutablePointer<UInt8>) {
        self.image = image
        self.options = options
        self.indices = indices
        format = cpalette_format(channels: Int32(image.layout.channelCount), threshold: GIFEncoder.threshold)
    }

    /// Finds a frame's indices.
    /// - Parameter same: for each pixel whether it is left as it shows.
    /// - Returns: its palette, and whether something is clear or left. That has the index behind the palette's colours.
    /// - Throws: `CancellationError`; `LoadError.Code.unencodable`.
    func draw(
        _ number: Int, same: UnsafePointer<UInt8>?, _ cancellation: WorkCancellation
    ) throws -> (Palette, isPartlyClear: Bool) {
        let histogram = try ColourHistogram(format: format, effort: options.effort)
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

    private func palette(for histogram: ColourHistogram, _ cancellation: WorkCancellation) throws -> Palette {
        for known in [global, last] {
            guard let known else { continue }
            try cancellation.check()
            if histogram.isEmpty || known.suits(histogram) { return known }
        }
        let most = (1...8).reversed().lazy.map { 1 << $0 }.first { $0 <= options.colours } ?? 2
        // An index is left for what is clear.
        let made = try Palette(
            of: histogram, most: image.isAnimated || histogram.isPartlyClear ? min(255, most) : most,
            beginsClear: false, effort: options.effort, cancellation)
        if global == nil { global = made }
        last = made
        return made
    }
}

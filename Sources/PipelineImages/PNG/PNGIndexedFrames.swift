#if PNG
import CImages
import LibC
import Pipeline

/// The frames of an animation as indices of one palette, packed to the bits that it needs. They aren't filtered, as
/// clause 12.8 of ISO/IEC 15948 advises.
///
/// A pixel that is the same as in the previous frame keeps its index. Dithering each frame alone would make still areas
/// flicker.
final class PNGIndexedFrames {
    let palette: Palette
    /// The bits of an index: 1, 2, 4 or 8.
    let bits: Int
    private let image: DecodedImage
    private let dither: Double
    /// The indices of the frame that was read last.
    private var shown: [UInt8]

    init(_ image: DecodedImage, palette: Palette, dither: Double) {
        self.image = image
        self.palette = palette
        self.dither = dither
        bits = [1, 2, 4].first { 1 << $0 >= palette.count } ?? 8
        shown = [UInt8](repeating: 0, count: image.width * image.height)
    }

    /// Returns the packed rows of a part of a frame, each preceded by the number of its filter. Frames have to be read
    /// in order.
    /// - Throws: `CancellationError`; `LoadError.Code.unencodable` if memory can't be allocated.
    func rows(ofFrame number: Int, in region: PixelRegion, _ cancellation: WorkCancellation) throws -> [UInt8] {
        try show(number, cancellation)
        let length = (region.size.width * bits + 7) / 8 + 1
        return [UInt8](unsafeUninitializedCapacity: length * region.size.height) { out, count in
            shown.withUnsafeBufferPointer { shown in
                guard var line = out.baseAddress, let start = shown.baseAddress else { return }
                for y in region.y..<region.bottom {
                    line[0] = 0
                    cpng_pack(start + y * image.width + region.x, line + 1, region.size.width, Int32(bits))
                    line += length
                }
                count = length * region.size.height
            }
        }
    }

    /// Sets ``shown`` to the indices of a frame.
    private func show(_ number: Int, _ cancellation: WorkCancellation) throws {
        let (width, channels) = (image.width, image.layout.channelCount)
        try image.withPixels(ofFrame: number) { pixels in
            try image.withPixels(ofFrame: max(0, number - 1)) { before in
                // The first colour is the transparent one.
                let rows = try PaletteRows(
                    pixels, size: image.size, format: PNGPaletteEncoder.format(of: image), palette: palette,
                    dither: dither, clear: 0)
                guard let new = pixels.baseAddress, let old = before.baseAddress else { return }
                try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width) { indices in
                    guard let row = indices.baseAddress else { return }
                    for y in 0..<image.height {
                        try rows.writeNext(to: row, cancellation)
                        for x in 0..<width {
                            let index = y * width + x
                            let isSame = memcmp(new + index * channels, old + index * channels, channels) == 0
                            if number == 0 || !isSame { shown[index] = row[x] }
                        }
                    }
                }
            }
        }
    }
}
#endif

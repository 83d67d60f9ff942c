import Pipeline
import Stages

/// Tiles of one size in rows, on one background.
struct ContactSheet: Sendable {
    let tile: PixelSize
    let columns: Int
    let rows: Int
    /// Pixels between tiles, and around them.
    let gap: Int
    let background: Color

    /// The size of the sheet; `nil` if it is too large to be a number.
    var size: PixelSize? {
        func side(_ tile: Int, _ count: Int) -> Int {
            tile.saturatingPlus(gap).saturatingTimes(count).saturatingPlus(gap)
        }
        let size = PixelSize(width: side(tile.width, columns), height: side(tile.height, rows))
        return size.width < .max && size.height < .max ? size : nil
    }

    /// The stages that make a tile from each image.
    /// - Parameter fills: Whether the image fills its tile and is cropped, or is surrounded by the background.
    func operations(fills: Bool) -> Chain {
        Chain {
            Resize(tile, fit: fills ? .cover : .contain, enlarges: fills, background: background)
            if background.alpha == 255 { Flatten(background) }
        }
    }

    /// The pixels of an empty sheet.
    func pixels(_ size: PixelSize) -> [UInt8] {
        let pixel = [background.red, background.green, background.blue, background.alpha]
        return [UInt8](unsafeUninitializedCapacity: 4 * size.width * size.height) { buffer, count in
            count = buffer.count / 4 * 4
            for index in 0..<count { buffer[index] = pixel[index % 4] }
        }
    }

    /// Copies a tile to its place.
    func draw(_ image: DecodedImage, at index: Int, into pixels: inout [UInt8], width: Int) throws {
        let channels = image.layout.channelCount
        let (left, top) = (
            gap + index % columns * (tile.width + gap), gap + index / columns * (tile.height + gap)
        )
        try image.withPixels { source in
            for y in 0..<min(tile.height, image.height) {
                for x in 0..<min(tile.width, image.width) {
                    let (from, to) = (channels * (y * image.width + x), 4 * ((top + y) * width + left + x))
                    for channel in 0..<3 { pixels[to + channel] = source[from + min(channel, channels - 1)] }
                    pixels[to + 3] = channels == 4 ? source[from + 3] : 255
                }
            }
        }
    }
}

#if PNG
import CImages
import Pipeline

/// Turns a PNG's inflated rows into pixels. Rows have to be requested from top to bottom.
final class PNGRows {
    /// The layout of the resulting pixels.
    let layout: PixelLayout
    // These are copied from the file, since reading them from it for each row would retain all its contents.
    private let color: PNGFile.Color
    private let width: Int
    private let depth: Int
    private let length: Int
    private let pixelLength: Int
    /// Maps PQ and HLG of 16 bits to sRGB, before 8 bits lose their darks.
    private let tones: ToneMapping?
    var mapsTones: Bool { tones != nil }
    /// 256 RGBA colours of the palette.
    private var colors: [UInt8] = []
    private let nothing: UnsafeMutablePointer<UInt8>
    private let unpacked: UnsafeMutablePointer<UInt8>
    private let pixels: UnsafeMutablePointer<UInt8>

    /// Returns `nil` for files that are left to libvips.
    init?(_ file: PNGFile) {
        guard !file.isInterlaced else { return nil }
        let hasColorKey = file.transparency != nil && (file.color == .gray || file.color == .rgb)
        guard !hasColorKey, file.color != .palette || file.palette.count >= 3 else { return nil }
        color = file.color
        width = file.size.width
        depth = file.depth
        length = file.rowLength
        tones = file.depth == 16 ? file.decisiveColors.flatMap { ToneMapping($0, bits: 16) } : nil
        pixelLength = file.pixelLength
        layout =
            switch file.color {
            case .gray: .gray
            case .rgb: .rgb
            case .palette: file.transparency == nil ? .rgb : .rgba
            case .grayAlpha, .rgba: .rgba
            }
        if file.color == .palette {
            colors = [UInt8](repeating: 0, count: 4 * 256)
            for index in 0..<256 {
                for channel in 0..<3 {
                    colors[4 * index + channel] = file.palette.dropFirst(3 * index + channel).first ?? 0
                }
                colors[4 * index + 3] = file.transparency?.dropFirst(index).first ?? 255
            }
        }
        func bytes(_ count: Int) -> UnsafeMutablePointer<UInt8> {
            let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
            bytes.initialize(repeating: 0, count: count)
            return bytes
        }
        nothing = bytes(file.rowLength)
        unpacked = bytes(file.size.width * file.color.samples)
        pixels = bytes(file.size.width * layout.channelCount)
    }

    deinit {
        nothing.deallocate()
        unpacked.deallocate()
        pixels.deallocate()
    }

    /// Returns a row's pixels, which are valid until the next call; `nil` if the filter is unknown.
    func row(_ y: Int, of inflated: UnsafeMutableRawBufferPointer) -> UnsafePointer<UInt8>? {
        guard let start = inflated.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
        let row = start + y * (length + 1) + 1
        let above = y == 0 ? UnsafePointer(nothing) : UnsafePointer(row - length - 1)
        guard cpng_unfilter(Int32(row[-1]), row, above, length, pixelLength) else { return nil }
        var samples = UnsafePointer(row)
        if let tones {
            tones.convert(row, to: unpacked, count: width, channels: color.samples)
            samples = UnsafePointer(unpacked)
        } else if depth != 8 {
            cpng_unpack(row, unpacked, width * color.samples, Int32(depth), color != .palette)
            samples = UnsafePointer(unpacked)
        }
        switch color {
        case .gray, .rgb, .rgba: return samples
        case .palette: cpng_look_up(samples, pixels, width, colors, Int32(layout.channelCount))
        case .grayAlpha: cpng_spread_grey(samples, pixels, width)
        }
        return UnsafePointer(pixels)
    }
}
#endif

#if GIF
import CImages
import Pipeline

/// Writes a GIF file block by block (GIF89a).
struct GIFWriter {
    private(set) var bytes = Array("GIF89a".utf8)
    private let width: Int

    /// Begins a file.
    /// - Parameter hasClear: Whether the index after the file's palette is used for transparency.
    init(_ size: PixelSize, palette: Palette, hasClear: Bool) {
        width = size.width
        let bits = Self.bits(palette.count + (hasClear ? 1 : 0))
        bytes += Self.number(size.width) + Self.number(size.height)
        // Section 18: a colour table of this size follows, with eight bits a channel.
        bytes += [0x80 | 0x70 | UInt8(bits - 1), 0, 0]
        writeTable(palette, bits: bits)
    }

    /// Writes how often the animation plays; 0 means forever. Without this block, it plays once.
    mutating func writeLoops(_ count: Int) {
        guard count != 1 else { return }
        bytes += [0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1]
        bytes += Self.number(max(0, count - 1)) + [0]
    }

    /// Writes a frame.
    /// - Parameters:
    ///   - indices: The indices of the whole canvas, of which those in the window are written.
    ///   - clear: The index of transparent pixels, after the palette's colours; `nil` if there are none.
    ///   - isGlobal: Whether the palette is the file's.
    /// - Throws: `CancellationError`.
    mutating func writeFrame(
        _ indices: UnsafePointer<UInt8>, in window: GIFWindow, clear: Int?, isClearedAfterwards: Bool, delay: Duration,
        palette: Palette, isGlobal: Bool, _ cancellation: WorkCancellation
    ) throws {
        // Section 23: the disposal, the delay and the transparent index.
        let disposal: UInt8 = isClearedAfterwards ? 2 : 1
        let hundredths = (Double(delay.milliseconds) / 10).rounded(.toNearestOrEven)
        bytes += [0x21, 0xf9, 4, disposal << 2 | (clear == nil ? 0 : 1)]
        bytes += Self.number(Int(min(65_535, max(0, hundredths)))) + [UInt8(clear ?? 0), 0]
        // Section 20: the place, and whether a colour table follows.
        bytes.append(0x2c)
        for value in [window.columns.lowerBound, window.rows.lowerBound, window.columns.count, window.rows.count] {
            bytes += Self.number(value)
        }
        // Some readers refuse an index beyond the table, even that of transparent pixels.
        let bits = Self.bits(clear.map { $0 + 1 } ?? palette.count)
        bytes.append(isGlobal ? 0 : 0x80 | UInt8(bits - 1))
        if !isGlobal { writeTable(palette, bits: bits) }
        try pack(indices, window, minimum: max(2, bits), cancellation)
    }

    /// Ends the file.
    mutating func end() { bytes.append(0x3b) }

    /// How many bits an index of this many colours has.
    private static func bits(_ colors: Int) -> Int { (1...8).first { 1 << $0 >= colors } ?? 8 }

    /// Section 22: the code size, and the compressed indices in blocks.
    private mutating func pack(
        _ indices: UnsafePointer<UInt8>, _ window: GIFWindow, minimum: Int, _ cancellation: WorkCancellation
    ) throws {
        bytes.append(UInt8(minimum))
        let packer = UnsafeMutablePointer<cgif_packer>.allocate(capacity: 1)
        defer { packer.deallocate() }
        cgif_pack_start(packer, Int32(minimum))
        let rows = max(1, PaletteRows.pixelsBetweenChecks / window.columns.count)
        let room = cgif_pack_limit(window.columns.count)
        let output = UnsafeMutablePointer<UInt8>.allocate(capacity: room)
        defer { output.deallocate() }
        for y in window.rows {
            if (y - window.rows.lowerBound) % rows == 0 { try cancellation.check() }
            let row = indices + y * width + window.columns.lowerBound
            let count = cgif_pack(packer, row, window.columns.count, output)
            bytes.append(contentsOf: UnsafeBufferPointer(start: output, count: count))
        }
        bytes.append(contentsOf: UnsafeBufferPointer(start: output, count: cgif_pack_end(packer, output)))
    }

    /// Section 19: the colours, padded with black.
    private mutating func writeTable(_ palette: Palette, bits: Int) {
        for index in 0..<palette.count { bytes += palette.colors[4 * index..<4 * index + 3] }
        bytes += [UInt8](repeating: 0, count: 3 * ((1 << bits) - palette.count))
    }

    private static func number(_ value: Int) -> [UInt8] {
        min(65_535, value).littleEndian(2)
    }
}
#endif

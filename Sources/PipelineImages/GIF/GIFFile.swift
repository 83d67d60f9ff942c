#if GIF
import Pipeline

/// A GIF file split into its blocks (GIF89a), without decompressing them.
struct GIFFile {
    private(set) var size: PixelSize
    /// The first frames, up to the requested number.
    private(set) var frames: [GIFFrame] = []
    private(set) var frameCount = 0
    /// The largest frame, which may extend beyond the canvas.
    private(set) var largestFrame = PixelSize(width: 0, height: 0)
    /// How often it plays; 0 means forever.
    private(set) var loops = 1
    /// Whether a pixel may be transparent: the first frame doesn't cover the canvas, or a frame has a transparent
    /// colour.
    private(set) var hasAlpha = false
    /// Whether a frame is cleared before the next one is drawn.
    private(set) var clears = false
    private var lastDisposal = GIFFrame.Disposal.stays
    /// The range of the global colour table; empty if there is none.
    let palette: Range<Int>

    /// Reads all blocks.
    /// - Parameter limit: The most frames to keep.
    init(_ bytes: UnsafeBufferPointer<UInt8>, limit: Int, cancellation: WorkCancellation) throws {
        guard bytes.count >= 13 else { throw Self.damaged("its header is cut off") }
        size = PixelSize(width: bytes.number(at: 6), height: bytes.number(at: 8))
        var position = 13
        palette = try Self.table(bytes[10], bytes, &position)
        try readBlocks(bytes, from: position, limit: limit, cancellation)
        guard frameCount > 0 else { throw Self.damaged("it has no frame") }
    }

    /// Reads blocks until the end, an unknown block or a truncated one.
    private mutating func readBlocks(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, limit: Int, _ cancellation: WorkCancellation
    ) throws {
        var position = start
        var next = GIFFrame()
        var blocks = 0
        while position < bytes.count {
            if blocks % 4096 == 0 { try cancellation.check() }
            blocks += 1
            switch bytes[position] {
            case 0x21:
                if position + 8 <= bytes.count, bytes[position + 1] == 0xf9 {
                    next.setControl(flags: bytes[position + 3], transparent: bytes[position + 6])
                    next.delay = bytes.number(at: position + 4)
                }
                if let times = Self.loops(bytes, at: position) { loops = times }
                position += 2
            case 0x2c:
                guard position + 11 < bytes.count else { return }
                (next.left, next.top) = (bytes.number(at: position + 1), bytes.number(at: position + 3))
                (next.width, next.height) = (bytes.number(at: position + 5), bytes.number(at: position + 7))
                let flags = bytes[position + 9]
                next.isInterlaced = flags & 0x40 != 0
                position += 10
                guard let own = try? Self.table(flags, bytes, &position) else { return }
                next.palette = own.isEmpty ? nil : own
                next.start = position
                add(next, limit: limit)
                next = GIFFrame()
                position += 1
            default: return
            }
            guard try Self.skipBlocks(bytes, &position, cancellation) else { return }
        }
    }

    /// Returns the range of a colour table; empty if there is none.
    private static func table(
        _ flags: UInt8, _ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int
    ) throws -> Range<Int> {
        let length = flags & 0x80 == 0 ? 0 : 3 * (2 << Int(flags & 7))
        guard length <= bytes.count - position else { throw damaged("its colours are cut off") }
        defer { position += length }
        return position..<position + length
    }

    /// Skips a chain of data blocks. Returns whether it is complete.
    private static func skipBlocks(
        _ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int, _ cancellation: WorkCancellation
    ) throws -> Bool {
        var steps = 0
        while position < bytes.count {
            let length = Int(bytes[position])
            position += 1 + length
            if length == 0 { return true }
            steps += 1
            if steps % 65_536 == 0 { try cancellation.check() }
        }
        return false
    }

    private mutating func add(_ frame: GIFFrame, limit: Int) {
        if frameCount == 0 {
            let covers = frame.left == 0 && frame.top == 0 && frame.width >= size.width && frame.height >= size.height
            hasAlpha = !covers && size.width > 0 && size.height > 0
            // The first frame is always shown whole, so the canvas grows to it.
            size = PixelSize(
                width: max(size.width, frame.left + frame.width), height: max(size.height, frame.top + frame.height))
        }
        let area = frame.width * frame.height
        if area > largestFrame.width * largestFrame.height {
            largestFrame = PixelSize(width: frame.width, height: frame.height)
        }
        if frame.transparent != nil { hasAlpha = true }
        if lastDisposal == .isCleared { clears = true }
        lastDisposal = frame.disposal
        if frames.count < limit { frames.append(frame) }
        frameCount += 1
    }

    /// Returns 256 RGBA colours of a frame. Colours missing in the file are transparent. Without a colour table, the
    /// first two are black and white.
    func colors(of frame: GIFFrame, _ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var colors = [UInt8](repeating: 0, count: 1024)
        let range = frame.palette ?? palette
        for (index, byte) in bytes[range].enumerated() { colors[index / 3 * 4 + index % 3] = byte }
        for index in 0..<max(2, range.count / 3) { colors[4 * index + 3] = 255 }
        if range.isEmpty { for channel in 4..<7 { colors[channel] = 255 } }
        return colors
    }

    /// Reads the Netscape extension, which says how often to repeat, 0 for forever. Returns how often to play.
    private static func loops(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int) -> Int? {
        guard position + 19 <= bytes.count, bytes[position + 1] == 0xff, bytes[position + 2] == 11,
            bytes[position + 14] == 3, bytes[position + 15] == 1
        else { return nil }
        let name = bytes[position + 3..<position + 14]
        guard name.elementsEqual("NETSCAPE2.0".utf8) || name.elementsEqual("ANIMEXTS1.0".utf8) else { return nil }
        let again = bytes.number(at: position + 16)
        return again == 0 ? 0 : again + 1
    }

    static func damaged(_ reason: String) -> LoadError {
        LoadError(.undecodable, subject: "", "The image/gif file is damaged or cut off (\(reason)); get a new copy.")
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// A little-endian number of two bytes.
    fileprivate func number(at offset: Int) -> Int { Int(self[offset]) | Int(self[offset + 1]) << 8 }
}
#endif

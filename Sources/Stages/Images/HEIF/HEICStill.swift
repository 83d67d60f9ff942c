import CVips
import Pipeline

/// Decodes a still HEIC picture with libheif, through libvips: tile by tile, of which one row is held at a time. It can
/// stop between two tiles.
struct HEICStill {
    let bytes: [UInt8]
    let picture: HEIFPicture

    /// The picture cropped and scaled to a size, in its own colours, not yet turned.
    func pixels(
        _ target: PixelSize, _ quality: DecodeQuality, _ cancellation: WorkCancellation
    ) throws -> ([UInt8], PixelLayout) {
        let (geometry, width) = (picture.geometry, picture.colour.canvas.width)
        let layout: PixelLayout = picture.alpha == nil ? .rgb : .rgba
        let sink = try RowSink(
            ResamplePlan(from: geometry.size, to: target, reserve: quality.blockReserve), layout: layout,
            cancellation: cancellation)
        let colour = HEICRows(picture.colour, bytes, picture.colours)
        let alpha = picture.alpha.map { HEICRows($0, bytes, nil) }
        let strip = UnsafeMutablePointer<UInt8>.allocate(capacity: width * 4)
        defer { strip.deallocate() }
        let line = UnsafeMutablePointer<UInt8>.allocate(capacity: width * 3)
        defer { line.deallocate() }
        // Rows below the crop aren't decoded.
        for row in 0..<geometry.top + geometry.size.height {
            try cancellation.check()
            try colour.read(row, into: alpha == nil ? strip : line, cancellation)
            if let alpha {
                Self.spread(line, into: strip, count: width)
                try alpha.read(row, into: line, cancellation)
                Self.add(line, to: strip, count: width, isPremultiplied: picture.isPremultiplied)
            }
            if row >= geometry.top { sink.push(strip + geometry.left * layout.channels) }
        }
        return (sink.finish(), layout)
    }

    private static func spread(_ rgb: UnsafePointer<UInt8>, into rgba: UnsafeMutablePointer<UInt8>, count: Int) {
        for index in 0..<count {
            for channel in 0..<3 { rgba[4 * index + channel] = rgb[3 * index + channel] }
        }
    }

    /// Transparency is coded as brightness, so that red, green and blue all have it.
    private static func add(
        _ levels: UnsafePointer<UInt8>, to rgba: UnsafeMutablePointer<UInt8>, count: Int, isPremultiplied: Bool
    ) {
        for index in 0..<count {
            let alpha = Int(levels[3 * index])
            rgba[4 * index + 3] = UInt8(alpha)
            guard isPremultiplied, alpha > 0, alpha < 255 else { continue }
            for channel in 0..<3 {
                let value = Int(rgba[4 * index + channel])
                rgba[4 * index + channel] = UInt8(min(255, (value * 255 + alpha / 2) / alpha))
            }
        }
    }
}

/// The rows of a picture in tiles. One row of tiles is held at a time, decoded on idle threads too; a single tile is read
/// a few rows at a time.
private final class HEICRows {
    private let tiles: HEIFPicture.Tiles
    private let bytes: [UInt8]
    private let colours: ISOBox?
    /// The tile that is alone.
    private var single: HEICTile?
    /// The pixels of a row of tiles.
    private var decoded: [[UInt8]] = []
    private var decodedRow = -1

    init(_ tiles: HEIFPicture.Tiles, _ bytes: [UInt8], _ colours: ISOBox?) {
        self.tiles = tiles
        self.bytes = bytes
        self.colours = colours
    }

    /// Reads one row of RGB, in full width. Rows are asked for in their order.
    func read(_ row: Int, into line: UnsafeMutablePointer<UInt8>, _ cancellation: WorkCancellation) throws {
        guard tiles.items.count > 1 else {
            let tile = try single ?? HEICTile(tiles.items[0], bytes, colours, cancellation)
            single = tile
            return try tile.read(row, into: line, width: tiles.canvas.width, cancellation)
        }
        let size = tiles.items[0].size
        if row / size.height != decodedRow { try decode(row / size.height, cancellation) }
        var left = 0
        for pixels in decoded {
            let width = min(size.width, tiles.canvas.width - left)
            pixels.withUnsafeBufferPointer { buffer in
                guard let start = buffer.baseAddress else { return }
                (line + 3 * left).update(from: start + row % size.height * size.width * 3, count: width * 3)
            }
            left += width
        }
    }

    /// Decodes a row of tiles.
    private func decode(_ row: Int, _ cancellation: WorkCancellation) throws {
        let items = Array(tiles.items[row * tiles.columns..<(row + 1) * tiles.columns])
        let results = Lock([Result<[UInt8], any Error>?](repeating: nil, count: items.count))
        BlockingThreads.decoding.runParts(items.count) { [bytes, colours] index in
            let result = Result {
                try HEICTile(items[index], bytes, colours, cancellation).pixels(cancellation)
            }
            results.withLock { $0[index] = result }
        }
        decoded = try results.withLock { $0 }.map { try $0?.get() ?? [] }
        decodedRow = row
    }
}

/// A tile that libvips has open, on one thread, and the rows that it gave last.
private final class HEICTile {
    private let size: PixelSize
    private let file: UnsafeMutableBufferPointer<UInt8>
    private var opened: VipsFile?
    private var rows: [UInt8] = []
    private var first = 0
    private var count = 0

    init(_ item: HEIFCodedItem, _ bytes: [UInt8], _ colours: ISOBox?, _ cancellation: WorkCancellation) throws {
        size = item.size
        let contents = item.file(in: bytes, colours: colours)
        let file = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: contents.count)
        _ = file.initialize(from: contents)
        self.file = file
        opened = try VipsCall.run(cancellation) { [size] call in
            let opened = try VipsFile(UnsafeBufferPointer(file), format: .heic, call: &call)
            guard opened.size == size, opened.header.channels == 3 else {
                throw LoadError(
                    .undecodable, subject: "",
                    "The \(ImageFormat.heic) file is damaged or cut off (a part has another size than it says); get it "
                        + "anew.")
            }
            return opened
        }
    }

    deinit {
        // What libvips has open reads the file until it is closed.
        opened = nil
        file.deallocate()
    }

    /// Reads a row; rows are asked for in their order.
    func read(
        _ row: Int, into line: UnsafeMutablePointer<UInt8>, width: Int, _ cancellation: WorkCancellation
    ) throws {
        if row >= first + count {
            first = row
            count = min(32, size.height - row)
            rows = try read(first, count, cancellation)
        }
        rows.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            line.update(from: start + (row - first) * size.width * 3, count: width * 3)
        }
    }

    /// All of it.
    func pixels(_ cancellation: WorkCancellation) throws -> [UInt8] { try read(0, size.height, cancellation) }

    private func read(_ top: Int, _ count: Int, _ cancellation: WorkCancellation) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count * size.width * 3) { buffer, filled in
            guard let start = buffer.baseAddress else { return }
            try VipsCall.run(cancellation) { call in try opened?.read(top, count, into: start, &call) }
            filled = count * size.width * 3
        }
    }
}

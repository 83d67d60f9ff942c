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
        let sink = RowSink(ResamplePlan(from: geometry.size, to: target, reserve: quality.blockReserve), layout: layout)
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

/// The rows of a picture in tiles, of which those in one row are open.
private final class HEICRows {
    private let tiles: HEIFPicture.Tiles
    private let bytes: [UInt8]
    private let colours: ISOBox?
    private var open: [HEICTile] = []
    private var openRow = -1

    init(_ tiles: HEIFPicture.Tiles, _ bytes: [UInt8], _ colours: ISOBox?) {
        self.tiles = tiles
        self.bytes = bytes
        self.colours = colours
    }

    /// Reads one row of RGB, in full width. Rows are asked for in their order.
    func read(_ row: Int, into line: UnsafeMutablePointer<UInt8>, _ cancellation: WorkCancellation) throws {
        let height = tiles.items[0].size.height
        if row / height != openRow {
            openRow = row / height
            open = []
            for item in tiles.items[openRow * tiles.columns..<(openRow + 1) * tiles.columns] {
                try cancellation.check()
                open.append(try HEICTile(item.file(in: bytes, colours: colours), item.size, cancellation))
            }
        }
        var left = 0
        for tile in open {
            let width = min(tile.size.width, tiles.canvas.width - left)
            try tile.read(row % height, into: line + 3 * left, width: width, cancellation)
            left += width
        }
    }
}

/// A tile that libvips has open, and the rows that it gave last.
private final class HEICTile {
    let size: PixelSize
    private let file: UnsafeMutableBufferPointer<UInt8>
    private var opened: VipsFile?
    private let rows: UnsafeMutablePointer<UInt8>
    private var first = 0
    private var count = 0
    private static let most = 32

    init(_ contents: [UInt8], _ size: PixelSize, _ cancellation: WorkCancellation) throws {
        self.size = size
        let file = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: contents.count)
        _ = file.initialize(from: contents)
        self.file = file
        rows = .allocate(capacity: size.width * 3 * Self.most)
        opened = try VipsCall.run(cancellation) { call in
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
        rows.deallocate()
    }

    func read(
        _ row: Int, into line: UnsafeMutablePointer<UInt8>, width: Int, _ cancellation: WorkCancellation
    ) throws {
        if row >= first + count {
            first = row
            count = min(Self.most, size.height - row)
            try VipsCall.run(cancellation) { call in try opened?.read(first, count, into: rows, &call) }
        }
        line.update(from: rows + (row - first) * size.width * 3, count: width * 3)
    }
}

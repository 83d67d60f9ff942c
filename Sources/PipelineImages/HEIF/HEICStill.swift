#if HEIC
import CHEIF
import Pipeline

/// Decodes a still HEIC picture with libheif tile by tile, holding one row of tiles. It can stop between two tiles.
struct HEICStill {
    let bytes: [UInt8]
    let picture: HEIFPicture

    /// Returns the picture cropped and scaled to a size, in its own colours, not yet turned.
    func pixels(
        _ target: PixelSize, _ quality: DecodeQuality, _ cancellation: WorkCancellation
    ) throws -> ([UInt8], PixelLayout) {
        let (geometry, width) = (picture.geometry, picture.color.canvas.width)
        let layout: PixelLayout = picture.alpha == nil ? .rgb : .rgba
        let sink = try RowSink(
            ResamplePlan(from: geometry.size, to: target, reserve: quality.blockReserve), layout: layout,
            cancellation: cancellation)
        let color = HEICRows(picture.color, bytes, picture.colors)
        let alpha = picture.alpha.map { HEICRows($0, bytes, nil) }
        let strip = UnsafeMutablePointer<UInt8>.allocate(capacity: width * 4)
        defer { strip.deallocate() }
        let line = UnsafeMutablePointer<UInt8>.allocate(capacity: width * 3)
        defer { line.deallocate() }
        // Rows below the crop aren't decoded.
        for row in 0..<geometry.top + geometry.size.height {
            try cancellation.check()
            try color.read(row, into: alpha == nil ? strip : line, cancellation)
            if let alpha {
                Self.spread(line, into: strip, count: width)
                try alpha.read(row, into: line, cancellation)
                Self.add(line, to: strip, count: width, isPremultiplied: picture.isPremultiplied)
            }
            if row >= geometry.top { sink.push(strip + geometry.left * layout.channelCount) }
        }
        return (sink.finish(), layout)
    }

    private static func spread(_ rgb: UnsafePointer<UInt8>, into rgba: UnsafeMutablePointer<UInt8>, count: Int) {
        for index in 0..<count {
            for channel in 0..<3 { rgba[4 * index + channel] = rgb[3 * index + channel] }
        }
    }

    /// Adds transparency, which is coded as brightness, so red is enough.
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

/// Reads the rows of a tiled picture. It holds one row of tiles, which idle threads help to decode.
final class HEICRows {
    private let tiles: HEIFPicture.Tiles
    private let bytes: [UInt8]
    private let colors: ISOBox?
    private let isDeep: Bool
    /// The current row of tiles.
    private var decoded: [HEICTile] = []
    private var decodedRow = -1

    /// - Parameter isDeep: Whether rows are read with 16 bits a channel, otherwise with 8.
    init(_ tiles: HEIFPicture.Tiles, _ bytes: [UInt8], _ colors: ISOBox?, isDeep: Bool = false) {
        self.tiles = tiles
        self.bytes = bytes
        self.colors = colors
        self.isDeep = isDeep && (tiles.items.first?.bits ?? 8) > 8
    }

    /// Reads one row of RGB in full width. Rows have to be requested in order.
    func read(_ row: Int, into line: UnsafeMutablePointer<UInt8>, _ cancellation: WorkCancellation) throws {
        try forTiles(of: row, cancellation) { tile, row, samples in
            (line + samples.lowerBound).update(from: tile.row(row), count: samples.count)
        }
    }

    /// Reads one row as samples from 0 to 65535.
    func read(_ row: Int, into line: UnsafeMutablePointer<UInt16>, _ cancellation: WorkCancellation) throws {
        try forTiles(of: row, cancellation) { tile, row, samples in
            tile.read(row, into: line + samples.lowerBound, count: samples.count)
        }
    }

    /// Calls a closure for each tile of a row, with the row in the tile and the places of its samples in the line.
    private func forTiles(
        of row: Int, _ cancellation: WorkCancellation, _ body: (HEICTile, _ row: Int, _ samples: Range<Int>) -> Void
    ) throws {
        let size = tiles.items[0].size
        if row / size.height != decodedRow { try decode(row / size.height, cancellation) }
        var left = 0
        for tile in decoded {
            let right = min(left + size.width, tiles.canvas.width)
            body(tile, row % size.height, 3 * left..<3 * right)
            left = right
        }
    }

    /// Decodes a row of tiles.
    private func decode(_ row: Int, _ cancellation: WorkCancellation) throws {
        // Frees the previous row first.
        decoded = []
        let items = Array(tiles.items[row * tiles.columns..<(row + 1) * tiles.columns])
        let results = Lock([Result<HEICTile, any Error>?](repeating: nil, count: items.count))
        BlockingThreads.decoding.runParts(items.count) { [bytes, colors, isDeep] index in
            let result = Result { try HEICTile(items[index], bytes, colors, isDeep: isDeep, cancellation) }
            results.withLock { $0[index] = result }
        }
        decoded = try results.withLock { $0 }.compactMap { try $0?.get() }
        decodedRow = row
    }
}

/// A tile decoded by libheif.
///
/// It is safe to send: the picture is never changed after decoding, and reading it changes nothing in libheif.
final class HEICTile: @unchecked Sendable {
    private let picture: OpaquePointer
    private let isDeep: Bool

    init(
        _ item: HEIFCodedItem, _ bytes: [UInt8], _ colors: ISOBox?, isDeep: Bool, _ cancellation: WorkCancellation
    ) throws {
        try cancellation.check()
        var failure = cheif_failure()
        let picture = item.file(in: bytes, colors: colors).withUnsafeBufferPointer { file in
            file.baseAddress.flatMap { cheif_decode($0, file.count, isDeep, &failure) }
        }
        guard let picture else { throw Self.error(failure) }
        self.picture = picture
        self.isDeep = isDeep
        let size = PixelSize(width: Int(cheif_width(picture)), height: Int(cheif_height(picture)))
        guard size == item.size else { throw Self.damaged("a part's size differs from its header") }
    }

    deinit { cheif_free(picture) }

    /// Returns a row in RGB.
    func row(_ row: Int) -> UnsafePointer<UInt8> { cheif_row(picture, Int32(row)) }

    /// Reads the first samples of a row, scaled to 16 bits.
    func read(_ row: Int, into line: UnsafeMutablePointer<UInt16>, count: Int) {
        let samples = UnsafeRawPointer(self.row(row))
        let most = UInt32(1) << UInt32(cheif_bits(picture)) - 1
        for index in 0..<count {
            let sample: UInt32 =
                isDeep
                ? UInt32(UInt16(littleEndian: samples.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)))
                : UInt32(samples.load(fromByteOffset: index, as: UInt8.self))
            line[index] = UInt16((min(sample, most) * 65535 + most / 2) / most)
        }
    }

    private static func error(_ failure: cheif_failure) -> LoadError {
        let words = withUnsafeBytes(of: failure.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        guard failure.is_unsupported else { return damaged(words) }
        return LoadError(
            .unsupportedType, subject: "",
            "The \(ImageFormat.heic) file is of a kind that isn't read (\(words)); save it as another, or as a PNG.")
    }

    private static func damaged(_ reason: String) -> LoadError {
        LoadError(
            .undecodable, subject: "",
            "The \(ImageFormat.heic) file is damaged or cut off (\(reason)); get a new copy.")
    }
}
#endif

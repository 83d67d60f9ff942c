import Pipeline

/// Rows as PNG packs them, which are asked for from the top on, some at a time.
protocol PNGRowSource {
    var size: PixelSize { get }
    /// Bytes of one row, with the number of its filter.
    var rowLength: Int { get }

    /// Writes some rows.
    /// - Parameter out: has place for them.
    /// - Throws: `CancellationError`.
    func write(_ rows: Range<Int>, to out: UnsafeMutablePointer<UInt8>, _ cancellation: WorkCancellation) throws
}

extension PNGWriter {
    /// Deflates rows, some at a time, and writes them.
    /// - Parameter level: from 0, none, to 9.
    /// - Throws: `LoadError.Code.unencodable`; `CancellationError`.
    mutating func write(_ rows: some PNGRowSource, level: Int, _ cancellation: WorkCancellation) throws {
        let height = rows.size.height
        let stripHeight = min(height, max(1, DeflateStream.pieceLength(level: level) / rows.rowLength))
        let strip = UnsafeMutablePointer<UInt8>.allocate(capacity: stripHeight * rows.rowLength)
        defer { strip.deallocate() }
        let stream = try DeflateStream(level: level)
        for top in stride(from: 0, to: height, by: stripHeight) {
            let bottom = min(height, top + stripHeight)
            try rows.write(top..<bottom, to: strip, cancellation)
            let bytes = UnsafeBufferPointer(start: strip, count: (bottom - top) * rows.rowLength)
            try stream.deflate(bytes, isLast: bottom == height, cancellation) { writeChunk("IDAT", $0) }
        }
    }
}

import Pipeline

extension ImageOrientation {
    /// A size after this orientation is applied; the same function undoes it.
    func applied(to size: PixelSize) -> PixelSize {
        swapsSides ? PixelSize(width: size.height, height: size.width) : size
    }

    /// Returns the stored region of a region of the upright picture.
    /// - Parameter size: The size of the stored picture.
    func stored(_ region: PixelRegion, in size: PixelSize) -> PixelRegion {
        let path = path(in: size)
        let corners = [(region.x, region.y), (region.right - 1, region.bottom - 1)].map { x, y in
            path.start + y * path.down + x * path.right
        }
        return PixelRegion(
            x: corners.reduce(.max) { min($0, $1 % size.width) }, y: corners.reduce(.max) { min($0, $1 / size.width) },
            size: applied(to: region.size))
    }

    /// The upright picture of stored pixels.
    /// - Parameter size: The stored size; `pixels` has `width × height × channels` bytes.
    /// - Throws: `CancellationError`.
    func applied(
        to pixels: UnsafePointer<UInt8>, size: PixelSize, channels: Int,
        cancellation: WorkCancellation = WorkCancellation()
    ) throws -> [UInt8] {
        let (upright, length) = (applied(to: size), size.bytes(channels))
        let path = path(in: size)
        // In blocks, so that each cache line is used whole: a row of one picture may be a column of the other.
        let side = 64
        return try [UInt8](unsafeUninitializedCapacity: length) { output, count in
            for top in stride(from: 0, to: upright.height, by: side) {
                try cancellation.check()
                for left in stride(from: 0, to: upright.width, by: side) {
                    for row in top..<min(top + side, upright.height) {
                        var to = (row * upright.width + left) * channels
                        var from = (path.start + row * path.down + left * path.right) * channels
                        for _ in left..<min(left + side, upright.width) {
                            for channel in 0..<channels { output[to + channel] = pixels[from + channel] }
                            to += channels
                            from += path.right * channels
                        }
                    }
                }
            }
            count = length
        }
    }

    /// Where the upright picture's first pixel is stored, and how far away its right and lower neighbours are, in
    /// pixels.
    private func path(in size: PixelSize) -> (start: Int, right: Int, down: Int) {
        let (width, last) = (size.width, size.width * size.height - 1)
        return switch self {
        case .up: (0, 1, width)
        case .upMirrored: (width - 1, -1, width)
        case .down: (last, -1, -width)
        case .downMirrored: (last - width + 1, 1, -width)
        case .leftMirrored: (0, width, 1)
        case .right: (last - width + 1, -width, 1)
        case .rightMirrored: (last, -width, -1)
        case .left: (width - 1, width, -1)
        }
    }
}

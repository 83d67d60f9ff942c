import Pipeline
import PipelineImages

/// Cuts off edges that have the colour of a corner, then the part that the path names, both in pixels of the source.
struct ThumborTrim: PixelTransform, ColorKeeping {
    let trim: ThumborSizing.Trim
    /// Empty for all that trimming leaves.
    let crop: ThumborSizing.Edges

    var keepsColors: Bool { true }

    var keepsDepth: Bool { true }

    var keepsHDR: Bool { true }

    var keepsGainMap: Bool { true }

    var signature: String? { "thumborTrim(\(parameters))" }

    var parameters: String {
        "\(trim.isTopLeft ? "top-left" : "bottom-right") \(trim.tolerance)"
            + (crop == ThumborSizing.Edges() ? "" : ", of \(crop)")
    }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let edges = try edges(of: image, cancellation)
        guard edges.right >= edges.left, edges.bottom >= edges.top else { return try cut(image, crop, cancellation) }
        let left = try Crop(
            x: edges.left, y: edges.top, width: edges.right - edges.left + 1, height: edges.bottom - edges.top + 1
        ).transformed(image, cancellation)
        let moved = ThumborSizing.Edges(
            left: crop.left - edges.left, top: crop.top - edges.top, right: crop.right - edges.left,
            bottom: crop.bottom - edges.top)
        return try cut(left, moved, cancellation)
    }

    private func cut(
        _ image: DecodedImage, _ edges: ThumborSizing.Edges, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        guard crop != ThumborSizing.Edges() else { return image }
        return try ThumborCrop(edges: edges).transformed(image, cancellation)
    }

    /// The outermost pixels of the first frame that differ from the corner. As in thumbor, a row's first such pixel
    /// doesn't count for the right edge, and without any the right edge lies before the left one.
    private func edges(
        of image: DecodedImage, _ cancellation: WorkCancellation
    ) throws -> ThumborSizing.Edges {
        var edges = ThumborSizing.Edges(left: image.width, top: image.height, right: 0, bottom: 0)
        let channels = image.layout.channelCount
        // thumbor measures greys in three channels.
        let weight = channels == 1 ? 3 : 1
        let limit = trim.tolerance * trim.tolerance
        try image.reducedToBytes(cancellation).withPixels { pixels in
            let corner = trim.isTopLeft ? 0 : pixels.count - channels
            func differs(_ start: Int) -> Bool {
                var sum = 0
                for channel in 0..<channels {
                    let difference = Int(pixels[start + channel]) - Int(pixels[corner + channel])
                    sum += difference * difference
                }
                return sum * weight > limit
            }
            for y in 0..<image.height {
                if y % 64 == 0 { try cancellation.check() }
                let row = y * image.width
                let first = (0..<image.width).first { differs((row + $0) * channels) }
                guard let first else { continue }
                edges.left = min(edges.left, first)
                edges.top = min(edges.top, y)
                edges.bottom = y
                let last = (max(first, edges.right) + 1..<max(image.width, max(first, edges.right) + 1))
                    .last { differs((row + $0) * channels) }
                if let last { edges.right = last }
            }
        }
        return edges
    }
}

import Pipeline
import PipelineImages

/// Cuts a rectangle out of the source. One that lies outside of it cuts nothing.
struct ThumborCrop: PixelTransform, PixelSizing, ColorKeeping {
    let edges: ThumborSizing.Edges

    var keepsColors: Bool { true }

    var keepsDepth: Bool { true }

    var keepsHDR: Bool { true }

    var keepsGainMap: Bool { true }

    var signature: String? { "thumborCrop(\(edges))" }

    var parameters: String { "\(edges)" }

    func neededRegion(of size: PixelSize, later: PixelNeeds) -> (region: PixelRegion, box: PixelSize?)? {
        crop(in: size).neededRegion(of: size, later: later)
    }

    /// `nil`: every pixel is needed unless only the part is decoded.
    func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? { nil }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        try crop(in: image.region == nil ? image.size : image.nativeSize).transformed(image, cancellation)
    }

    private func crop(in whole: PixelSize) -> Crop {
        Crop(edges.region(in: whole) ?? PixelRegion(x: 0, y: 0, size: whole))
    }
}

/// Scales the picture to its sides, mirrors it, and applies the filters.
struct ThumborTransform: PixelTransform, PixelSizing, ColorKeeping {
    let sizing: ThumborSizing
    let filters: [ThumborFilter]

    var keepsColors: Bool { filters.isEmpty }

    var keepsDepth: Bool { filters.isEmpty }

    var keepsHDR: Bool { filters.isEmpty }

    var keepsGainMap: Bool { filters.isEmpty }

    var signature: String? { "thumbor(\(parameters))" }

    var parameters: String { ([sizing.description] + filters.map(\.description)).joined(separator: ", ") }

    /// The longer side of the largest picture in both directions, since a filter may turn it.
    func largestSize(of image: DecodedImage) -> PixelSize {
        let layout = layout(of: image)
        let whole = layout.isPlacedByInterest ? layout.wholeScaled(of: source(of: image)) : layout.scaled
        let (box, size) = (layout.box, image.size)
        if filters.isEmpty {
            return PixelSize(width: max(size.width, whole.width), height: max(size.height, whole.height))
        }
        return PixelSize(square: max(size.width, size.height, whole.width, whole.height, box.width, box.height))
    }

    func neededRegion(of size: PixelSize, later: PixelNeeds) -> (region: PixelRegion, box: PixelSize?)? {
        let layout = ThumborLayout(sizing, of: size, in: size)
        guard layout.kept.size != size, !layout.isPlacedByInterest else { return nil }
        return (layout.kept, layout.reduced(layout.kept.size))
    }

    func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? {
        // The sides of the source aren't known after a crop.
        if sizing.hasCrop, sizing.isLimited { return nil }
        let layout = ThumborLayout(sizing, of: size, in: size)
        guard let box = layout.reduced(size) else { return nil }
        // A cut that begins at any pixel needs them all, unless the picture is a drawing that the decoder enlarges.
        let isWhole = layout.kept.size == size || layout.isPlacedByInterest
        return isWhole || box.width > size.width ? box : nil
    }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let layout = layout(of: image)
        var result = try scaled(image, layout, cancellation)
        if sizing.flips.horizontal { result = try Flip(.horizontal).transformed(result, cancellation) }
        if sizing.flips.vertical { result = try Flip(.vertical).transformed(result, cancellation) }
        for filter in filters { result = try filter.applied(to: result, box: layout.box, cancellation) }
        return result
    }

    private func scaled(
        _ image: DecodedImage, _ layout: ThumborLayout, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let source = source(of: image)
        if layout.isPlacedByInterest {
            let whole = try Resize(layout.wholeScaled(of: source), fit: .fill, enlarges: true)
                .transformed(image, cancellation)
            return try Crop(layout.scaled, by: .attention).transformed(whole, cancellation)
        }
        var part = image
        if layout.kept.size != source {
            let isWhole = image.region != nil || image.size == source
            part = try Crop(isWhole ? layout.kept : layout.kept.scaled(from: source, to: image.size))
                .transformed(image, cancellation)
        }
        return try Resize(layout.scaled, fit: .fill, enlarges: true).transformed(part, cancellation)
    }

    /// The sizes of a picture that may have been reduced by its decoder, or be only the part that is needed.
    private func layout(of image: DecodedImage) -> ThumborLayout {
        ThumborLayout(sizing, of: source(of: image), in: image.nativeSize)
    }

    private func source(of image: DecodedImage) -> PixelSize {
        image.region == nil ? image.unreducedSize : image.nativeSize
    }
}

extension ThumborLayout {
    /// The size that a picture or its part may be reduced to, neither side shorter than the result's; `nil` for all
    /// pixels.
    fileprivate func reduced(_ size: PixelSize) -> PixelSize? {
        let scale = max(
            Double(scaled.width) / Double(kept.size.width), Double(scaled.height) / Double(kept.size.height))
        guard scale != 1 else { return nil }
        return PixelSize(
            width: Int((Double(size.width) * scale).rounded(.up)),
            height: Int((Double(size.height) * scale).rounded(.up)))
    }

    /// The size of the whole picture at which the part that is kept has the size of the result.
    fileprivate func wholeScaled(of source: PixelSize) -> PixelSize {
        let (across, down) = (
            Double(scaled.width) / Double(kept.size.width), Double(scaled.height) / Double(kept.size.height)
        )
        return PixelSize(
            width: max(scaled.width, Int((Double(source.width) * across).rounded())),
            height: max(scaled.height, Int((Double(source.height) * down).rounded())))
    }
}

extension PixelRegion {
    /// The same part of a picture of another size.
    fileprivate func scaled(from whole: PixelSize, to other: PixelSize) -> PixelRegion {
        func place(_ length: Int, _ from: Int, _ to: Int) -> Int {
            Int((Double(length) * Double(to) / Double(from)).rounded())
        }
        return PixelRegion(
            x: place(x, whole.width, other.width), y: place(y, whole.height, other.height),
            size: PixelSize(
                width: max(1, place(size.width, whole.width, other.width)),
                height: max(1, place(size.height, whole.height, other.height))))
    }
}

extension Crop {
    fileprivate init(_ region: PixelRegion) {
        self.init(x: region.x, y: region.y, width: region.size.width, height: region.size.height)
    }
}

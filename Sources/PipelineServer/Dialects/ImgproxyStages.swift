import Pipeline
import PipelineImages

/// Cuts off a border. All other work measures what is left as if it were the source.
struct ImgproxyTrim: ColorDrawing {
    let trim: Trim

    func drawing(in space: PixelLayout.ColorSpace) -> ImgproxyTrim { ImgproxyTrim(trim: trim.drawing(in: space)) }

    var signature: String? { "imgproxyTrim(\(parameters))" }

    var parameters: String { trim.parameters }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let rest = try trim.transformed(image, cancellation)
        var trimmed = DecodedImage(
            size: rest.size, layout: rest.layout, frames: rest.frames, loopCount: rest.loopCount)
        trimmed.gainMap = rest.gainMap
        return trimmed
    }
}

/// Cuts out the part that the option `crop` names.
struct ImgproxyCrop: PixelTransform, PixelSizing, ColorKeeping {
    private let width, height: Double
    private let gravity: ImgproxyGravity

    init(_ sizing: ImgproxySizing) {
        (width, height) = sizing.crop
        gravity = sizing.cropGravity ?? sizing.gravity
    }

    var keepsColors: Bool { true }

    var keepsDepth: Bool { true }

    var keepsHDR: Bool { true }

    var keepsGainMap: Bool { true }

    var signature: String? { "imgproxyCrop(\(parameters))" }

    var parameters: String { "\(width)×\(height), \(gravity)" }

    /// The size of the part in a picture of a size, in pixels.
    func size(in whole: PixelSize) -> PixelSize {
        func side(_ length: Double, _ whole: Int) -> Int {
            if length == 0 { return whole }
            return min(whole, length >= 1 ? Int(length) : max(1, Int((length * Double(whole)).rounded())))
        }
        return PixelSize(width: side(width, whole.width), height: side(height, whole.height))
    }

    func neededRegion(of size: PixelSize, later: PixelNeeds) -> (region: PixelRegion, box: PixelSize?)? {
        gravity.place == .sm ? nil : crop(in: size).neededRegion(of: size, later: later)
    }

    /// `nil`: every pixel is needed unless only the part is decoded.
    func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? { nil }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        try crop(in: image.region == nil ? image.size : image.nativeSize).transformed(image, cancellation)
    }

    private func crop(in whole: PixelSize) -> Crop { gravity.crop(size(in: whole), in: whole) }
}

/// Scales the picture, and cuts off what the resizing type doesn't keep.
struct ImgproxyResize: PixelTransform, PixelSizing, ColorKeeping {
    let sizing: ImgproxySizing

    var keepsColors: Bool { true }

    var keepsDepth: Bool { true }

    var keepsHDR: Bool { true }

    var keepsGainMap: Bool { true }

    var signature: String? { "imgproxyResize(\(sizing.description))" }

    var parameters: String { sizing.description }

    func largestSize(of image: DecodedImage) -> PixelSize { sizing.layout(of: image).scaled }

    func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? {
        let scaled = ImgproxyLayout(sizing, of: size).scaled
        // Neither side may get shorter than the result's.
        let scale = max(
            Double(scaled.width) / Double(size.width), Double(scaled.height) / Double(size.height))
        guard scale != 1 else { return nil }
        return PixelSize(
            width: Int((Double(size.width) * scale).rounded(.up)),
            height: Int((Double(size.height) * scale).rounded(.up)))
    }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let layout = sizing.layout(of: image)
        let scaled = try Resize(layout.scaled, fit: .fill, enlarges: true).transformed(image, cancellation)
        let kept = ImgproxyLayout.visible(layout.kept, of: scaled.size)
        if kept == scaled.size { return scaled }
        return try sizing.gravity.crop(kept, in: scaled.size, scale: layout.pixelRatio)
            .transformed(scaled, cancellation)
    }
}

/// Puts the picture on the canvas of `extend`, `extend_aspect_ratio` and `padding`, which is transparent.
struct ImgproxyCanvas: PixelTransform, ColorKeeping {
    let sizing: ImgproxySizing

    var keepsColors: Bool { true }

    var keepsDepth: Bool { true }

    var keepsHDR: Bool { true }

    var keepsGainMap: Bool { true }

    var signature: String? { "imgproxyCanvas(\(sizing.description))" }

    var parameters: String { sizing.description }

    func largestSize(of image: DecodedImage) -> PixelSize {
        let layout = sizing.layout(of: image)
        let (canvas, padding) = (layout.canvas(sizing, of: image.size), layout.padding(sizing))
        return PixelSize(
            width: canvas.width + padding.left + padding.right, height: canvas.height + padding.top + padding.bottom)
    }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let layout = sizing.layout(of: image)
        let (canvas, padding) = (layout.canvas(sizing, of: image.size), layout.padding(sizing))
        let gravity = sizing.extend.isOn ? sizing.extend.gravity : sizing.extendAspect.gravity
        let (x, y) = gravity.origin(of: image.size, in: canvas, scale: layout.pixelRatio)
        return try Pad(
            top: y + padding.top, left: x + padding.left,
            bottom: canvas.height - image.height - y + padding.bottom,
            right: canvas.width - image.width - x + padding.right, color: .clear
        ).transformed(image, cancellation)
    }
}

extension ImgproxySizing {
    /// The sizes of a picture that may have been reduced by its decoder.
    func layout(of image: DecodedImage) -> ImgproxyLayout {
        ImgproxyLayout(self, of: hasCrop ? ImgproxyCrop(self).size(in: image.nativeSize) : image.nativeSize)
    }
}

extension ImgproxyGravity {
    /// The cut that keeps an area of a picture.
    fileprivate func crop(_ size: PixelSize, in whole: PixelSize, scale: Double = 1) -> Crop {
        if place == .sm { return Crop(size, by: .attention) }
        let (x, y) = origin(of: size, in: whole, scale: scale)
        return Crop(x: x, y: y, width: size.width, height: size.height)
    }
}

public import Pipeline

/// Cuts a rectangle out of the picture.
///
/// ```swift
/// Crop(x: 10, y: 20, width: 300, height: 200)                    // of the pixels as they are here in the list
/// Crop(PixelSize(square: 200))                                   // the middle
/// Crop(aspect: PixelSize(width: 16, height: 9), gravity: .north) // the largest that fits
/// Crop(width: .percent(50), height: .percent(50), gravity: .east)
/// Crop(PixelSize(square: 200), gravity: .southEast, offset: (x: -10, y: -10))
/// Crop(PixelSize(square: 200), focalPoint: (x: 0.3, y: 0.25))    // around a face
/// Crop(PixelSize(square: 200), by: .attention)                   // the most interesting part
/// ```
///
/// For a thumbnail that keeps what matters, put `Resize(size, fit: .outside)` before a crop by interest or around a
/// focal point. All frames of an animation are cut alike; their interest is added up.
///
/// If a crop follows `Decode` directly and the request has no `maxPixelSize`, only that part of a JPEG, PNG, TIFF or
/// WebP is decoded, no larger than later stages need. This doesn't apply to crops by interest or to several frames. The
/// result equals cutting the whole picture. If a later stage reduces it, the outermost pixels may differ slightly.
///
/// The rectangle is clipped to the picture, so the result may be smaller than requested, but is never empty.
///
/// - Throws: ``Pipeline/LoadError/Code/untransformable`` if the rectangle lies outside the picture;
///   `CancellationError`.
public struct Crop: SpecifiedTransform, PixelSizing, ColorKeeping {
    private enum Region: Sendable {
        case rectangle(x: Length, y: Length, width: Length, height: Length)
        case gravity(width: Length, height: Length, Gravity)
        case aspect(PixelSize, Gravity)
        case focalPoint(PixelSize, x: Double, y: Double)
        case interest(PixelSize, Interest)
    }

    private let region: Region
    /// The pixels by which a rectangle is moved from the place of its gravity, to the right and down.
    private var offset = (x: 0, y: 0)

    package static let specification = StageSpecification(
        "crop", "Cuts a part out of the image.", example: "400:300:attention",
        .optional("width", .length(1...1_000_000), "The width.", example: "400"),
        .optional("height", .length(1...1_000_000), "The height.", example: "300"),
        .optional("x", .length(-1_000_000...1_000_000), "The left edge.", example: "10"),
        .optional("y", .length(-1_000_000...1_000_000), "The upper edge.", example: "20"),
        .optional("gravity", .choice(Gravity.allCases, word: \.rawValue), "The part that is kept.", default: .center),
        .optional(
            "offsetX", .integer(-1_000_000...1_000_000), "Pixels from there towards the right.", default: 0,
            example: "10"),
        .optional(
            "offsetY", .integer(-1_000_000...1_000_000), "Pixels from there downwards.", default: 0, example: "10"),
        .optional("focusX", .number(0...1), "The point that is kept, from the left.", example: "0.3"),
        .optional("focusY", .number(0...1), "The point that is kept, from above.", example: "0.7"),
        .optional(
            "by", .choice(Interest.allCases), "Keeps the most interesting part by this measure.", example: "attention"),
        .optional("aspect", .aspect, "Keeps the largest part of this aspect, in place of width and height.")
    ) { width, height, x, y, gravity, offsetX, offsetY, focusX, focusY, interest, aspect in
        if let aspect {
            guard width == nil, height == nil else { throw StageMistake("crop takes an aspect or a size, not both.") }
            return Crop(aspect: aspect, gravity: gravity, offset: (offsetX, offsetY))
        }
        guard let width, let height else { throw StageMistake("crop needs width and height, or aspect.") }
        if x != nil || y != nil {
            return Crop(x: x ?? .pixels(0), y: y ?? .pixels(0), width: width, height: height)
        }
        let hasFocus = focusX != nil || focusY != nil
        guard hasFocus || interest != nil else {
            return Crop(width: width, height: height, gravity: gravity, offset: (offsetX, offsetY))
        }
        guard case .pixels(let across) = width, case .pixels(let down) = height else {
            throw StageMistake("crop by interest, or around a point, takes width and height in pixels.")
        }
        let size = PixelSize(width: across, height: down)
        if let interest, !hasFocus { return Crop(size, by: interest) }
        return Crop(size, focalPoint: (focusX ?? 0.5, focusY ?? 0.5))
    }

    /// Cuts out a rectangle.
    /// - Parameters:
    ///   - x: The distance from the left edge in pixels.
    ///   - y: The distance from the top edge in pixels.
    ///   - width: The width in pixels.
    ///   - height: The height in pixels.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.init(x: .pixels(x), y: .pixels(y), width: .pixels(width), height: .pixels(height))
    }

    /// Cuts out a rectangle in pixels or percent.
    /// - Parameters:
    ///   - x: The distance from the left edge.
    ///   - y: The distance from the top edge.
    ///   - width: The width.
    ///   - height: The height.
    public init(x: Length, y: Length, width: Length, height: Length) {
        region = .rectangle(x: x, y: y, width: width, height: height)
    }

    /// Cuts out a rectangle of a size in pixels or percent.
    /// - Parameters:
    ///   - width: The width; at most the picture's.
    ///   - height: The height; at most the picture's.
    ///   - gravity: Where it lies; by default in the middle.
    ///   - offset: The pixels to move it to the right and down from there, as far as the picture reaches; by default none.
    public init(
        width: Length, height: Length, gravity: Gravity = .center, offset: (x: Int, y: Int) = (0, 0)
    ) {
        region = .gravity(width: width, height: height, gravity)
        self.offset = offset
    }

    /// Cuts out the largest rectangle with an aspect ratio.
    /// - Parameters:
    ///   - aspect: The ratio, as a width and a height in any unit, such as 16 and 9.
    ///   - gravity: Where it lies; by default in the middle.
    ///   - offset: The pixels to move it to the right and down from there, as far as the picture reaches; by default none.
    public init(aspect: PixelSize, gravity: Gravity = .center, offset: (x: Int, y: Int) = (0, 0)) {
        region = .aspect(aspect, gravity)
        self.offset = offset
    }

    /// Cuts out a rectangle of a size.
    /// - Parameters:
    ///   - size: The size in pixels; longer sides are cut to those of the picture.
    ///   - gravity: Where it lies; by default in the middle.
    ///   - offset: The pixels to move it to the right and down from there, as far as the picture reaches; by default none.
    public init(_ size: PixelSize, gravity: Gravity = .center, offset: (x: Int, y: Int) = (0, 0)) {
        self.init(width: .pixels(size.width), height: .pixels(size.height), gravity: gravity, offset: offset)
    }

    /// Cuts out a rectangle centred on a point, as far as the picture's edges allow.
    /// - Parameters:
    ///   - size: The size in pixels; longer sides are cut to those of the picture.
    ///   - focalPoint: The point that matters, from (0, 0), the top left corner, to (1, 1), the bottom right one.
    public init(_ size: PixelSize, focalPoint: (x: Double, y: Double)) {
        region = .focalPoint(size, x: focalPoint.x, y: focalPoint.y)
    }

    /// Cuts out the most interesting rectangle of a size.
    /// - Parameters:
    ///   - size: The size in pixels; longer sides are cut to those of the picture.
    ///   - interest: What makes a part interesting.
    public init(_ size: PixelSize, by interest: Interest) {
        region = .interest(size, interest)
    }

    public var parameters: String {
        switch region {
        case .rectangle(let x, let y, let width, let height): "x: \(x), y: \(y), \(width)×\(height)"
        case .gravity(let width, let height, let gravity): "\(width)×\(height), \(gravity.rawValue)\(move)"
        case .aspect(let aspect, let gravity): "\(aspect.width):\(aspect.height), \(gravity.rawValue)\(move)"
        case .focalPoint(let size, let x, let y): "\(size), around \(x), \(y)"
        case .interest(let size, let interest): "\(size), by \(interest.rawValue)"
        }
    }

    private var move: String { offset == (0, 0) ? "" : ", offset: \(offset.x), \(offset.y)" }

    /// Returns the rectangle and the size that later stages need of it; `nil` for a crop by interest.
    public func neededRegion(of size: PixelSize, later: PixelNeeds) -> (region: PixelRegion, box: PixelSize?)? {
        rectangle(in: size).flatMap { Self.part($0, of: size) }.map { ($0, later.box(of: $0.size)) }
    }

    /// Returns `nil`: every pixel is needed unless only the region is decoded.
    public func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? { nil }

    public var keepsColors: Bool { true }

    public var keepsDepth: Bool { true }

    public var keepsHDR: Bool { true }

    public var keepsGainMap: Bool { true }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        // The decoder has already cut it out.
        if let region = image.region, let need = neededRegion(of: image.nativeSize, later: PixelNeeds()),
            need.region == region
        {
            var part = DecodedImage(
                size: image.size, layout: image.layout, frames: image.frames, nativeSize: image.nativeSize)
            part.croppedSize = region.size
            part.gainMap = image.gainMap
            return part
        }
        let rectangle = try rectangle(in: image.size) ?? interesting(in: image, cancellation)
        guard let part = Self.part(rectangle, of: image.size) else {
            throw LoadError(
                .untransformable, subject: "",
                "The rectangle \(parameters) lies outside the picture of \(image.size); crop less, or elsewhere.")
        }
        let channels = image.layout.bytesPerPixel
        var cut = try image.mapFrames(size: part.size, isOfAnyDepth: true, cancellation) { pixels in
            var result: [UInt8] = []
            result.reserveCapacity(part.size.bytes(channels))
            for row in part.y..<part.bottom {
                if row % 64 == 0 { try cancellation.check() }
                let start = row * image.width * channels
                result.append(contentsOf: pixels[start + part.x * channels..<start + part.right * channels])
            }
            return result
        }
        cut.croppedSize = part.size
        cut.gainMap = image.gainMap?.cropped(to: part, of: image.size)
        return cut
    }

    /// Returns the part of a rectangle inside a picture; `nil` if there is none.
    private static func part(_ rectangle: PixelRegion, of area: PixelSize) -> PixelRegion? {
        let (x, y, size) = (rectangle.x, rectangle.y, rectangle.size)
        // Far outside, sums of these could overflow.
        let (left, top) = (max(0, min(x, area.width)), max(0, min(y, area.height)))
        let right = max(left, min(area.width, x.addingReportingOverflow(size.width).partialValue))
        let bottom = max(top, min(area.height, y.addingReportingOverflow(size.height).partialValue))
        guard left < right, top < bottom else { return nil }
        return PixelRegion(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }

    /// Returns the rectangle in a picture of a size; `nil` for a crop by interest.
    private func rectangle(in area: PixelSize) -> PixelRegion? {
        switch region {
        case .rectangle(let x, let y, let width, let height):
            return PixelRegion(
                x: x.pixels(of: area.width), y: y.pixels(of: area.height), size: Self.size(width, height, in: area))
        case .gravity(let width, let height, let gravity):
            return placed(Self.size(width, height, in: area), gravity, area)
        case .aspect(let aspect, let gravity):
            guard aspect.width > 0, aspect.height > 0 else { return PixelRegion(x: 0, y: 0, size: 0) }
            let scale = min(
                Double(area.width) / Double(aspect.width), Double(area.height) / Double(aspect.height))
            func side(_ length: Int) -> Int { max(1, Int((Double(length) * scale).rounded())) }
            return placed(PixelSize(width: side(aspect.width), height: side(aspect.height)), gravity, area)
        case .focalPoint(let size, let x, let y):
            let size = inside(size, area)
            func start(_ point: Double, _ length: Int, _ whole: Int) -> Int {
                let point = point.isFinite ? min(1, max(0, point)) : 0.5
                return min(whole - length, max(0, Int((point * Double(whole) - Double(length) / 2).rounded())))
            }
            return PixelRegion(
                x: start(x, size.width, area.width), y: start(y, size.height, area.height), size: size)
        case .interest: return nil
        }
    }

    /// Returns the most interesting rectangle.
    private func interesting(in image: DecodedImage, _ cancellation: WorkCancellation) throws -> PixelRegion {
        guard case .interest(let wanted, let interest) = region else {
            return PixelRegion(x: 0, y: 0, size: image.size)
        }
        let size = inside(wanted, image.size)
        // An empty rectangle has no interest. The caller refuses it.
        guard size.width > 0, size.height > 0, size != image.size else { return PixelRegion(x: 0, y: 0, size: size) }
        let origin = try InterestMap(of: image.reducedToBytes(cancellation), by: interest, cancellation)
            .best(size, in: image.size)
        return PixelRegion(x: origin.x, y: origin.y, size: size)
    }

    /// Returns a size in pixels. A percentage above 0 is at least one pixel.
    private static func size(_ width: Length, _ height: Length, in area: PixelSize) -> PixelSize {
        PixelSize(
            width: max(width.isPart ? 1 : .min, width.pixels(of: area.width)),
            height: max(height.isPart ? 1 : .min, height.pixels(of: area.height)))
    }

    private func placed(_ wanted: PixelSize, _ gravity: Gravity, _ area: PixelSize) -> PixelRegion {
        let size = inside(wanted, area)
        let origin = gravity.origin(of: size, in: area)
        /// Moved no farther than the picture reaches.
        func moved(_ start: Int, _ distance: Int, _ length: Int, _ whole: Int) -> Int {
            if distance == 0 { return start }
            return max(0, min(whole - length, start + max(-whole, min(whole, distance))))
        }
        return PixelRegion(
            x: moved(origin.x, offset.x, size.width, area.width),
            y: moved(origin.y, offset.y, size.height, area.height),
            size: size)
    }

    private func inside(_ size: PixelSize, _ area: PixelSize) -> PixelSize {
        PixelSize(width: min(size.width, area.width), height: min(size.height, area.height))
    }
}

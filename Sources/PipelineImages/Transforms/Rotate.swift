import LibC
public import Pipeline

/// Turns the picture clockwise.
///
/// ```swift
/// Rotate(.quarter)                                // no pixel changes its colour
/// Rotate(degrees: -1.5)                           // a horizon that hangs to the right
/// Rotate(degrees: 30, background: .white)
/// ```
///
/// At a multiple of 90°, pixels only change places. At any other angle, the picture grows to hold the turned one, each
/// pixel is interpolated from four, and the corners show the background.
///
/// - Throws: ``Pipeline/LoadError/Code/untransformable`` if the picture becomes too large; `CancellationError`.
public struct Rotate: SpecifiedTransform, PixelSizing, ColorDrawing {
    /// A clockwise angle.
    public enum Angle: Int, Sendable, Hashable, CaseIterable {
        /// A quarter turn.
        case quarter = 90
        /// A half turn.
        case half = 180
        /// Three quarters, that is a quarter counterclockwise.
        case threeQuarters = 270
    }

    /// The angle, from 0 to less than 360.
    private let degrees: Double
    private var background: Color

    package static let specification = StageSpecification(
        "rotate", "Turns the image.",
        .required("degrees", .number(-360...360), "The angle in degrees, clockwise.", example: "90"),
        .optional(
            "background", .color, "The colour of the corners; formats without alpha write transparent as white.",
            default: .clear, example: "white"),
        make: Rotate.init)

    /// Turns by quarters.
    /// - Parameter angle: The clockwise angle.
    public init(_ angle: Angle) { self.init(degrees: Double(angle.rawValue)) }

    /// Turns by any angle.
    /// - Parameters:
    ///   - degrees: The clockwise angle; negative for counterclockwise.
    ///   - background: The colour of the corners; by default they are transparent, which becomes white in a JPEG.
    public init(degrees: Double, background: Color = .clear) {
        let rest = degrees.isFinite ? degrees.truncatingRemainder(dividingBy: 360) : 0
        // A tiny negative angle plus 360 would round to 360.
        self.degrees = rest < 0 && rest + 360 < 360 ? rest + 360 : max(0, rest)
        self.background = background
    }

    /// The angle, and the background if it shows.
    public var parameters: String {
        orientation == nil ? "\(degrees)°, \(background)" : "\(Int(degrees))°"
    }

    /// Returns what later stages need, turned back; every pixel if pixels are interpolated.
    public func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? {
        // Swapping width and height is its own inverse.
        orientation.flatMap { later.box(of: $0.applied(to: size)).map($0.applied(to:)) }
    }

    /// The turned picture's size.
    public func largestSize(of image: DecodedImage) -> PixelSize {
        orientation?.applied(to: image.size) ?? Turn(of: image.size, by: degrees).size
    }

    package func drawing(in space: PixelLayout.ColorSpace) -> Rotate {
        var rotate = self
        rotate.background = background.converted(to: space)
        return rotate
    }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        if let orientation { return try image.oriented(orientation, cancellation) }
        let isOpaque = background.alpha == 255 && !image.layout.hasAlpha
        let source = try isOpaque ? image.withColor(cancellation) : image.withAlpha(cancellation)
        let turn = Turn(of: image.size, by: degrees)
        var turned =
            source.layout.isDeep
            ? try self.turned(UInt16.self, source, turn, cancellation)
            : try self.turned(UInt8.self, source, turn, cancellation)
        turned.gainMap = try image.gainMap.map { try turn.applied(to: $0, cancellation) }
        return turned
    }

    private func turned<Sample: FixedWidthInteger>(
        _ type: Sample.Type, _ source: DecodedImage, _ turn: Turn, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let layout = source.layout
        return try source.mapFrames(size: turn.size, isOfAnyDepth: true, cancellation) { pixels in
            try [UInt8](unsafeUninitializedCapacity: turn.size.bytes(layout.bytesPerPixel)) { bytes, count in
                try background.pixel(in: layout).withUnsafeBytes { canvas in
                    let result = UnsafeMutableRawBufferPointer(bytes)
                    guard let pixels = UnsafeRawBufferPointer(pixels).bindMemory(to: Sample.self).baseAddress,
                        let canvas = canvas.bindMemory(to: Sample.self).baseAddress,
                        let result = result.bindMemory(to: Sample.self).baseAddress
                    else { return }
                    for row in 0..<turn.size.height {
                        if row % 16 == 0 { try cancellation.check() }
                        turn.put(
                            row: row, of: pixels, on: canvas, channels: layout.channelCount,
                            into: result + row * turn.size.width * layout.channelCount)
                    }
                }
                count = turn.size.bytes(layout.bytesPerPixel)
            }
        }
    }

    /// The orientation equal to a turn by quarters; `nil` for any other angle.
    private var orientation: ImageOrientation? {
        switch degrees {
        case 0: .up
        case 90: .right
        case 180: .down
        case 270: .left
        default: nil
        }
    }
}

/// A turn around the centre of a picture.
private struct Turn {
    /// The size of the turned picture.
    let size: PixelSize
    private let source: PixelSize
    private let sine, cosine: Double

    init(of source: PixelSize, by degrees: Double) {
        self.source = source
        sine = sin(degrees * .pi / 180)
        cosine = cos(degrees * .pi / 180)
        let (width, height) = (Double(source.width), Double(source.height))
        // Less than a hundredth of a pixel doesn't add one. A size that is too large is refused later.
        func length(_ value: Double) -> Int { max(1, Int(min(1e9, (value - 0.01).rounded(.up)))) }
        size = PixelSize(
            width: length(width * abs(cosine) + height * abs(sine)),
            height: length(width * abs(sine) + height * abs(cosine)))
    }

    /// Where a place of the turned picture was, both in pixels from the top left corner.
    private func place(of turned: (x: Double, y: Double)) -> (x: Double, y: Double) {
        let (right, down) = (turned.x - Double(size.width) / 2, turned.y - Double(size.height) / 2)
        return (
            right * cosine + down * sine + Double(source.width) / 2,
            down * cosine - right * sine + Double(source.height) / 2
        )
    }

    /// Turns the map of the picture, whose corners get no gain. The pixels of the new map are as large as the smaller sides
    /// of the old one's.
    func applied(to map: GainMap, _ cancellation: WorkCancellation) throws -> GainMap {
        let (across, down) = (
            map.part.width * Double(map.size.width) / Double(source.width),
            map.part.height * Double(map.size.height) / Double(source.height)
        )
        func side(_ length: Int) -> Int { max(1, Int((Double(length) * max(across, down)).rounded())) }
        let made = PixelSize(width: side(size.width), height: side(size.height))
        var levels: [UInt8] = []
        levels.reserveCapacity(made.bytes(map.channelCount))
        for row in 0..<made.height {
            try cancellation.check()
            for column in 0..<made.width {
                let place = place(
                    of: (
                        x: (Double(column) + 0.5) / Double(made.width) * Double(size.width),
                        y: (Double(row) + 0.5) / Double(made.height) * Double(size.height)
                    ))
                let isInside =
                    place.x >= 0 && place.y >= 0 && place.x < Double(source.width) && place.y < Double(source.height)
                let right = GainMap.Place(
                    map.part.x * Double(map.size.width) + place.x * across, of: map.size.width)
                let below = GainMap.Place(
                    map.part.y * Double(map.size.height) + place.y * down, of: map.size.height)
                for channel in 0..<map.channelCount {
                    levels.append(
                        isInside
                            ? UInt8((255 * map.level(right, below, channel)).rounded())
                            : map.parameters.levelWithoutGain(channel))
                }
            }
        }
        return GainMap(map, pixels: levels, size: made)
    }

    /// Makes a row of the turned picture. Each pixel is interpolated from the four around its place in the source;
    /// those outside have the canvas colour.
    func put<Sample: FixedWidthInteger>(
        row: Int, of pixels: UnsafePointer<Sample>, on canvas: UnsafePointer<Sample>, channels: Int,
        into result: UnsafeMutablePointer<Sample>
    ) {
        func at(_ x: Int, _ y: Int) -> UnsafePointer<Sample> {
            x >= 0 && x < source.width && y >= 0 && y < source.height
                ? pixels + (y * source.width + x) * channels : canvas
        }
        let start = place(of: (x: 0.5, y: Double(row) + 0.5))
        var (x, y) = (start.x - 0.5, start.y - 0.5)
        for column in 0..<size.width {
            let (corner, to) = ((x: Int(x.rounded(.down)), y: Int(y.rounded(.down))), result + column * channels)
            let (right, below) = (Int((x - Double(corner.x)) * 256), Int((y - Double(corner.y)) * 256))
            let (one, two) = (at(corner.x, corner.y), at(corner.x + 1, corner.y))
            let (three, four) = (at(corner.x, corner.y + 1), at(corner.x + 1, corner.y + 1))
            var weights = SIMD4(
                (256 - right) * (256 - below), right * (256 - below), (256 - right) * below, right * below)
            // Colours are weighted by alpha.
            if channels == 4 { weights &*= SIMD4(Int(one[3]), Int(two[3]), Int(three[3]), Int(four[3])) }
            let sum = max(1, weights.wrappedSum())
            for channel in 0..<3 {
                let levels = SIMD4(Int(one[channel]), Int(two[channel]), Int(three[channel]), Int(four[channel]))
                to[channel] = Sample(((levels &* weights).wrappedSum() + sum / 2) / sum)
            }
            if channels == 4 { to[3] = Sample((weights.wrappedSum() + 1 << 15) >> 16) }
            x += cosine
            y -= sine
        }
    }
}

extension DecodedImage {
    /// Returns the picture turned upright from an orientation, with its native size turned too.
    func oriented(_ orientation: ImageOrientation, _ cancellation: WorkCancellation) throws -> DecodedImage {
        var result = DecodedImage(
            size: orientation.applied(to: size), layout: layout,
            frames: try newFrames(true, cancellation) { pixels in
                guard let start = pixels.baseAddress else { return [] }
                return try orientation.applied(
                    to: start, size: size, channels: layout.bytesPerPixel, cancellation: cancellation)
            }, loopCount: loopCount, nativeSize: orientation.applied(to: nativeSize))
        result.croppedSize = croppedSize.map(orientation.applied(to:))
        result.gainMap = try gainMap?.oriented(orientation, cancellation)
        return result
    }
}

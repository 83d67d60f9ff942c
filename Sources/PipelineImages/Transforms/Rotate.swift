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
public struct Rotate: SpecifiedTransform, PixelSizing, ColorKeeping {
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
    private let background: Color

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

    /// Whether the colour that it draws in has the same numbers in all colour spaces.
    public var keepsColors: Bool { orientation != nil || background.isInAllSpaces }

    /// Whether it turns by a multiple of 90°.
    public var keepsDepth: Bool { orientation != nil }

    /// Likewise.
    public var keepsHDR: Bool { orientation != nil }

    /// Likewise.
    public var keepsGainMap: Bool { orientation != nil }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        if let orientation { return try image.oriented(orientation, cancellation) }
        let isOpaque = background.alpha == 255 && !image.layout.hasAlpha
        let source = try isOpaque ? image.withColor(cancellation) : image.withAlpha(cancellation)
        let turn = Turn(of: image.size, by: degrees)
        let channels = source.layout.channelCount
        let canvas = background.pixel(in: source.layout)
        return try source.mapFrames(size: turn.size, cancellation) { pixels in
            try [UInt8](unsafeUninitializedCapacity: turn.size.bytes(channels)) { result, count in
                guard let pixels = pixels.baseAddress, let result = result.baseAddress else { return }
                for row in 0..<turn.size.height {
                    if row % 16 == 0 { try cancellation.check() }
                    turn.put(
                        row: row, of: pixels, on: canvas, channels: channels,
                        into: result + row * turn.size.width * channels)
                }
                count = turn.size.bytes(channels)
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

    /// Makes a row of the turned picture. Each pixel is interpolated from the four around its place in the source;
    /// those outside have the canvas colour.
    func put(
        row: Int, of pixels: UnsafePointer<UInt8>, on canvas: UnsafePointer<UInt8>, channels: Int,
        into result: UnsafeMutablePointer<UInt8>
    ) {
        func at(_ x: Int, _ y: Int) -> UnsafePointer<UInt8> {
            x >= 0 && x < source.width && y >= 0 && y < source.height
                ? pixels + (y * source.width + x) * channels : canvas
        }
        let down = Double(row) + 0.5 - Double(size.height) / 2
        let left = 0.5 - Double(size.width) / 2
        var x = left * cosine + down * sine + Double(source.width) / 2 - 0.5
        var y = down * cosine - left * sine + Double(source.height) / 2 - 0.5
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
                to[channel] = UInt8(((levels &* weights).wrappedSum() + sum / 2) / sum)
            }
            if channels == 4 { to[3] = UInt8((weights.wrappedSum() + 1 << 15) >> 16) }
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

public import Pipeline

/// Changes brightness, saturation and hue, in this order, as the CSS filters with these names do.
///
/// Channels are clamped after each step. Transparency is unchanged.
///
/// - Throws: `CancellationError`.
public struct Adjust: SpecifiedTransform {
    private let brightness: Double
    private let saturation: Double
    private let hue: Double

    package static let specification = StageSpecification(
        "adjust", "Changes brightness, saturation and hue.", example: "1.2:saturation=0.8",
        .optional("brightness", .number(0...10), "A factor.", default: 1, example: "1.2"),
        .optional("saturation", .number(0...10), "A factor.", default: 1, example: "0.8"),
        .optional("hue", .number(-360...360), "A turn in degrees.", default: 0, example: "90"),
        make: Adjust.init)

    /// Makes the transform.
    /// - Parameters:
    ///   - brightness: The factor of each channel, 0 to 10; 1, the default, changes nothing.
    ///   - saturation: The saturation, from 0, grey, to 10; 1, the default, changes nothing.
    ///   - hue: The rotation of hues in degrees; 0, the default, changes nothing.
    public init(brightness: Double = 1, saturation: Double = 1, hue: Double = 0) {
        self.brightness = brightness.isFinite ? min(10, max(0, brightness)) : 1
        self.saturation = saturation.isFinite ? min(10, max(0, saturation)) : 1
        self.hue = hue.isFinite ? hue.truncatingRemainder(dividingBy: 360) : 0
    }

    public var parameters: String { "brightness: \(brightness), saturation: \(saturation), hue: \(hue)" }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        var steps: [ColorMatrix] = []
        if brightness != 1 { steps.append(.brightness(brightness)) }
        // A grey has neither saturation nor hue.
        if saturation != 1, image.layout != .gray { steps.append(.saturation(saturation)) }
        if hue != 0, image.layout != .gray { steps.append(.hue(hue)) }
        guard !steps.isEmpty else { return image }
        let channels = image.layout.channelCount
        return try image.mapFrames(cancellation) { pixels in
            try [UInt8](unsafeUninitializedCapacity: pixels.count) { result, count in
                for start in stride(from: 0, to: pixels.count, by: channels) {
                    if start % (channels << 14) == 0 { try cancellation.check() }
                    var color = SIMD3<Int32>()
                    for channel in 0..<3 { color[channel] = Int32(pixels[start + min(channel, channels - 1)]) * 16 }
                    for step in steps { color = step.applied(to: color) }
                    for channel in 0..<min(3, channels) { result[start + channel] = UInt8((color[channel] + 8) >> 4) }
                    if channels == 4 { result[start + 3] = pixels[start + 3] }
                }
                count = pixels.count
            }
        }
    }
}

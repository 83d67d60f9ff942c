public import Pipeline

// Public names as they were spelled in version 0.1; the next version leaves them out.

/// ``Color``.
@available(*, deprecated, renamed: "Color")
public typealias Colour = Color
/// ``CodedColors``.
@available(*, deprecated, renamed: "CodedColors")
public typealias CodedColours = CodedColors
/// ``DominantColor``.
@available(*, deprecated, renamed: "DominantColor")
public typealias DominantColour = DominantColor
/// ``Grayscale``.
@available(*, deprecated, renamed: "Grayscale")
public typealias Greyscale = Grayscale

extension DominantColor {
    /// ``color``.
    @available(*, deprecated, renamed: "color")
    public var colour: Color { color }
}

extension DecodedImage {
    /// ``dominantColors(_:)``.
    @available(*, deprecated, renamed: "dominantColors(_:)")
    public func dominantColours(_ most: Int = 5) async throws -> [DominantColor] { try await dominantColors(most) }
}

extension ImageHeader {
    /// ``colors``.
    @available(*, deprecated, renamed: "colors")
    public var colours: ImageMetadata.ColorModel? {
        get { colors }
        set { colors = newValue }
    }

    /// ``codedColors``.
    @available(*, deprecated, renamed: "codedColors")
    public var codedColours: CodedColors? {
        get { codedColors }
        set { codedColors = newValue }
    }
}

extension ImageMetadata {
    /// ``ColorModel``.
    @available(*, deprecated, renamed: "ColorModel")
    public typealias ColourModel = ColorModel
    /// ``ColorProfile``.
    @available(*, deprecated, renamed: "ColorProfile")
    public typealias ColourProfile = ColorProfile

    /// ``colors``.
    @available(*, deprecated, renamed: "colors")
    public var colours: ColorModel { colors }

    /// ``codedColors``.
    @available(*, deprecated, renamed: "codedColors")
    public var codedColours: CodedColors? { codedColors }
}

extension ImageMetadata.ColorModel {
    /// ``gray``.
    @available(*, deprecated, renamed: "gray")
    public static var grey: Self { .gray }
}

#if PNG
extension EncodeOptions.PNG {
    /// ``colors``.
    @available(*, deprecated, renamed: "colors")
    public var colours: Int? {
        get { colors }
        set { colors = newValue }
    }
}
#endif

#if GIF
extension EncodeOptions.GIF {
    /// ``colors``.
    @available(*, deprecated, renamed: "colors")
    public var colours: Int {
        get { colors }
        set { colors = newValue }
    }
}
#endif

extension Gravity {
    /// ``center``.
    @available(*, deprecated, renamed: "center")
    public static var centre: Gravity { .center }
}

extension Pad {
    /// ``init(to:gravity:color:)``.
    @available(*, deprecated, renamed: "init(to:gravity:color:)")
    public init(to canvas: PixelSize, gravity: Gravity = .center, colour: Color) {
        self.init(to: canvas, gravity: gravity, color: colour)
    }

    /// ``init(top:left:bottom:right:color:)``.
    @available(*, deprecated, renamed: "init(top:left:bottom:right:color:)")
    public init(top: Int = 0, left: Int = 0, bottom: Int = 0, right: Int = 0, colour: Color) {
        self.init(top: top, left: left, bottom: bottom, right: right, color: colour)
    }
}

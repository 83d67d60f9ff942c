// Public names as they were spelled in version 0.1; the next version leaves them out.
extension PixelLayout {
    /// ``ColorSpace``.
    @available(*, deprecated, renamed: "ColorSpace")
    public typealias ColourSpace = ColorSpace

    /// ``gray``.
    @available(*, deprecated, renamed: "gray")
    public static var grey: PixelLayout { gray }

    /// ``colorSpace``.
    @available(*, deprecated, renamed: "colorSpace")
    public var colourSpace: ColorSpace { colorSpace }
}

/// A stage on pixels that needn't know which colours their numbers stand for, such as one that cuts or mirrors.
///
/// If all stages between a decoder and the end of the list are of this kind, the decoder leaves pixels in the source's own
/// colour space, such as Display P3; see ``Gamut``. Any other stage on pixels gets sRGB.
public protocol ColorKeeping: Stage {
    /// Whether the stage, with its parameters, takes pixels of any ``PixelLayout/ColorSpace`` and leaves the colours as
    /// they are. One that draws in a colour of its own does so only if the colour has the same numbers in all of them,
    /// as white has.
    var keepsColors: Bool { get }
    /// Whether it takes and makes pixels of ``PixelLayout/SampleType/uint16`` too; `false` by default.
    var keepsDepth: Bool { get }
    /// Whether it takes HDR too: colours in which a level stands for light above white, and white has another level than in
    /// SDR, such as ``PixelLayout/ColorSpace/bt2100PQ``, and linear ones. They come with 16 bits a channel. `false` by
    /// default.
    var keepsHDR: Bool { get }
    /// Whether it hands on ``DecodedImage/gainMap``, cut and turned as the picture is; `false` by default.
    var keepsGainMap: Bool { get }
}

extension ColorKeeping {
    /// `false`.
    public var keepsDepth: Bool { false }
    /// `false`.
    public var keepsHDR: Bool { false }
    /// `false`.
    public var keepsGainMap: Bool { false }
}

/// A stage on pixels that knows which of them it needs, so that the decoder before it makes no more.
///
/// Without this a stage gets all pixels of the source (or what the request's `maxPixelSize` leaves of them).
public protocol PixelSizing: Stage {
    /// The box that the image may be reduced to fit before this stage gets it, without harm to the result.
    /// - Parameters:
    ///   - size: the size of the source image, upright, as this stage would get it.
    ///   - later: what the stages after this one need, for a stage that moves pixels without mixing them, such as one
    ///     that mirrors.
    ///
    /// An SVG is drawn to fill the box, even if that enlarges it: a stage that doesn't enlarge returns no box larger than
    /// `size`, and one that does returns the box that it enlarges to.
    /// - Returns: a box, or `nil` if all pixels are needed.
    func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize?

    /// The only part of the image that this stage needs, such as the part that a crop keeps; by default `nil`.
    ///
    /// The stage may then get an image whose ``DecodedImage/region`` is this part, reduced to no less than the box. It
    /// has to return an image without a region.
    /// - Parameters:
    ///   - size: the size of the source image, upright, as this stage would get it.
    ///   - later: what the stages after this one need.
    /// - Returns: a part, and the box that it may be reduced to fit, or `nil` for all its pixels; `nil` if the whole
    ///   image is needed.
    func neededRegion(of size: PixelSize, later: PixelNeeds) -> (region: PixelRegion, box: PixelSize?)?
}

extension PixelSizing {
    /// `nil`: the whole image is needed.
    public func neededRegion(of size: PixelSize, later: PixelNeeds) -> (region: PixelRegion, box: PixelSize?)? { nil }
}

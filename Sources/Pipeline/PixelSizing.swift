/// A stage on pixels that knows how few of them it needs, so that the decoder before it makes no more.
///
/// Without this a stage gets all pixels of the source (or what the request's `maxPixelSize` leaves of them).
public protocol PixelSizing: Stage {
    /// The box that a picture may be made to fit before this stage gets it, with no harm to the result.
    /// - Parameters:
    ///   - size: the size of the source's picture, upright, as this stage would get it.
    ///   - later: what the stages after this one need: for a stage that keeps pixels apart, such as one that mirrors.
    /// - Returns: a box, or `nil` if all pixels are needed.
    func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize?

    /// The only part of the picture that this stage needs, as one that crops; by default there is none.
    ///
    /// The stage may then get an image whose ``DecodedImage/region`` is this part, reduced to no less than the box, and has to
    /// give one without a region.
    /// - Parameters:
    ///   - size: the size of the source's picture, upright, as this stage would get it.
    ///   - later: what the stages after this one need.
    /// - Returns: a part, and the box that it may be made to fit, or `nil` for all its pixels; `nil` if the whole picture is
    ///   needed.
    func neededRegion(of size: PixelSize, later: PixelNeeds) -> (region: PixelRegion, box: PixelSize?)?
}

extension PixelSizing {
    /// The whole picture.
    public func neededRegion(of size: PixelSize, later: PixelNeeds) -> (region: PixelRegion, box: PixelSize?)? { nil }
}

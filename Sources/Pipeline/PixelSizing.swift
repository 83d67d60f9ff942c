/// A stage on pixels that knows how few of them it needs, so that the decoder before it makes no more.
///
/// Without this a stage gets all pixels of the source (or what the request's `maxPixelSize` leaves of them).
public protocol PixelSizing: Stage {
    /// The box that a picture may be made to fit before this stage gets it, with no harm to the result.
    /// - Parameters:
    ///   - size: the size of the source's picture, upright, as this stage would get it.
    ///   - later: what the stages after this one need of a picture of a size: for a stage that keeps pixels apart, such
    ///     as one that mirrors.
    /// - Returns: a box, or `nil` if all pixels are needed.
    func neededBox(of size: PixelSize, later: (PixelSize) -> PixelSize?) -> PixelSize?
}

/// What later stages of a list need of an image's pixels.
public struct PixelNeeds: Sendable {
    private let stages: [any Stage]
    /// A box that is known without them.
    private var fixed: PixelSize?

    /// Nothing is known: all pixels are needed.
    public init() { stages = [] }

    init(_ stages: [any Stage]) { self.stages = stages }

    /// The whole image is needed, reduced to fit a box.
    package init(fitting box: PixelSize) { (stages, fixed) = ([], box) }

    /// The box that an image may be reduced to fit, or `nil` if all pixels are needed.
    /// - Parameter size: the source's size in pixels, upright.
    public func box(of size: PixelSize) -> PixelSize? { fixed ?? first?.neededBox(of: size, later: later) }

    /// The only part of an image that is needed, and the box that this part may be reduced to fit; `nil` if the whole
    /// image is needed. A decoder that can't decode parts uses ``box(of:)``.
    /// - Parameter size: the source's size in pixels, upright.
    public func region(of size: PixelSize) -> (region: PixelRegion, box: PixelSize?)? {
        first?.neededRegion(of: size, later: later)
    }

    private var first: (any PixelSizing)? { stages.first as? any PixelSizing }
    private var later: PixelNeeds { PixelNeeds(Array(stages.dropFirst())) }
}

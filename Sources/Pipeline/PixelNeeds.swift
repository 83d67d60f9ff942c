/// What the stages after a place in a list need of a picture's pixels.
public struct PixelNeeds: Sendable {
    private let stages: [any Stage]

    /// Nothing is known: all pixels are needed.
    public init() { stages = [] }

    init(_ stages: [any Stage]) { self.stages = stages }

    /// The box that a picture may be made to fit, or `nil` if all pixels are needed.
    /// - Parameter size: the source's size in pixels, upright.
    public func box(of size: PixelSize) -> PixelSize? { box(of: size, from: 0) }

    private func box(of size: PixelSize, from index: Int) -> PixelSize? {
        guard index < stages.count, let stage = stages[index] as? any PixelSizing else { return nil }
        return stage.neededBox(of: size) { box(of: $0, from: index + 1) }
    }
}

/// What later stages of a list need of an image's pixels.
public struct PixelNeeds: Sendable {
    private let stages: [any Stage]
    /// A box that is known without them.
    private var fixed: PixelSize?

    /// Nothing is known: all pixels are needed.
    public init() { stages = [] }

    /// - Parameter stages: Those on pixels; what comes after one that makes bytes of them doesn't count.
    init(_ stages: [any Stage]) {
        let end = stages.firstIndex { !$0.produces.contains(.decoded) } ?? stages.endIndex - 1
        self.stages = Array(stages[..<(end + 1)])
    }

    /// The same needs, but for the whole image, reduced to fit a box.
    package func fitting(_ box: PixelSize) -> PixelNeeds {
        var needs = self
        needs.fixed = box
        return needs
    }

    /// The box that an image may be reduced to fit, or `nil` if all pixels are needed.
    /// - Parameter size: the source's size in pixels, upright.
    public func box(of size: PixelSize) -> PixelSize? { fixed ?? first?.neededBox(of: size, later: later) }

    /// The only part of an image that is needed, and the box that this part may be reduced to fit; `nil` if the whole
    /// image is needed. A decoder that can't decode parts uses ``box(of:)``.
    /// - Parameter size: the source's size in pixels, upright.
    public func region(of size: PixelSize) -> (region: PixelRegion, box: PixelSize?)? {
        fixed == nil ? first?.neededRegion(of: size, later: later) : nil
    }

    /// Whether the later stages leave colours as they are, whichever those are: all of them are ``ColorKeeping``.
    public var keepColors: Bool { stageConvertingColors == nil }

    /// The name of the first stage that takes sRGB alone; `nil` if none does.
    package var stageConvertingColors: String? { name(ofFirst: { !$0.keepsColors }) }

    /// Whether the later stages also take 16 bits a channel.
    public var keepDepth: Bool { stageReducingDepth == nil }

    /// The name of the first stage that takes 8 bits alone; `nil` if none does.
    package var stageReducingDepth: String? { name(ofFirst: { !$0.keepsColors || !$0.keepsDepth }) }

    /// Whether the later stages take HDR.
    public var keepHDR: Bool { stageLosingHDR == nil }

    /// The name of the first stage that doesn't take HDR; `nil` if all do.
    package var stageLosingHDR: String? {
        name(ofFirst: { !$0.keepsColors || !$0.keepsDepth || !$0.keepsHDR })
    }

    /// Whether the later stages hand a gain map on.
    public var keepGainMap: Bool { stageDroppingGainMap == nil }

    /// The name of the first stage that drops a gain map; `nil` if none does.
    package var stageDroppingGainMap: String? {
        name(ofFirst: { !$0.keepsColors || !$0.keepsGainMap })
    }

    /// The name of the first stage that loses something, or says nothing of what it keeps.
    private func name(ofFirst loses: (any ColorKeeping) -> Bool) -> String? {
        stages.first { ($0 as? any ColorKeeping).map(loses) ?? true }
            .map { $0.parameters.isEmpty ? $0.name : "\($0.name)(\($0.parameters))" }
    }

    /// Whether the pixels become a file's bytes.
    package var endInBytes: Bool {
        stages.last.map { $0.produces.contains(.encoded) && !$0.produces.contains(.decoded) } ?? false
    }

    private var first: (any PixelSizing)? { stages.first as? any PixelSizing }
    private var later: PixelNeeds { PixelNeeds(Array(stages.dropFirst())) }
}

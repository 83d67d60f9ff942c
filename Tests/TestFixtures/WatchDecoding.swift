package import Pipeline

/// Notes which part of an image comes out of `Decode`, and needs of it what the stages behind need.
package struct WatchDecoding: Stage, PixelSizing {
    package let accepts: Phases = .decoded

    package init() {}

    package func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? { later.box(of: size) }

    package func neededRegion(of size: PixelSize, later: PixelNeeds) -> (region: PixelRegion, box: PixelSize?)? {
        later.region(of: size)
    }

    package func run(_ load: inout Load) async throws -> Outcome {
        guard case .decoded(let image) = load.content else { return .skipped }
        load.note(image.region == nil ? "whole \(image.size)" : "part \(image.size)")
        return .done
    }
}

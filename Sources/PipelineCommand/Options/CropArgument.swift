import ArgumentParser
import Pipeline
import PipelineFile
import Stages

/// The part of an image that is kept. Case and hyphens in names don't matter.
enum CropArgument: ExpressibleByArgument {
    /// The image fills the size, and this part of it is kept.
    case gravity(Gravity)
    case interest(Interest)
    /// A part that is cut out before anything else: `16:9`, `16:9:north`, `50%x50%` or, with its left upper corner,
    /// `800x600+10+20`.
    case part(Crop)

    /// The names that completions offer.
    static let names = Gravity.allCases.map(\.rawValue) + ["attention", "entropy"]

    init?(argument: String) {
        if let gravity = Self.gravity(argument) {
            self = .gravity(gravity)
        } else if let interest = Interest(rawValue: argument.lowercased()) {
            self = .interest(interest)
        } else if let crop = Self.aspect(argument) ?? Self.rectangle(argument) {
            self = .part(crop)
        } else {
            return nil
        }
    }

    private static func gravity(_ text: some StringProtocol) -> Gravity? {
        NearestName.exact(String(text), in: Gravity.allCases, by: \.rawValue)
    }

    private static func aspect(_ text: String) -> Crop? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count),
            let aspect = StageParameter.Kind.aspect.read(parts[..<2].joined(separator: ":")),
            let gravity = parts.count == 3 ? gravity(parts[2]) : .center
        else { return nil }
        return Crop(aspect: aspect, gravity: gravity)
    }

    private static func rectangle(_ text: String) -> Crop? {
        let parts = text.lowercased().split(separator: "+", omittingEmptySubsequences: false).map(String.init)
        let sides = parts[0].split(separator: "x", omittingEmptySubsequences: false)
            .compactMap { StageParameter.Kind.length(1...1_000_000).read(String($0)) }
        let corner = parts.dropFirst().compactMap { StageParameter.Kind.length(0...1_000_000).read($0) }
        guard sides.count == 2, corner.count == parts.count - 1 else { return nil }
        return switch corner.count {
        case 0: Crop(width: sides[0], height: sides[1])
        case 2: Crop(x: corner[0], y: corner[1], width: sides[0], height: sides[1])
        default: nil
        }
    }
}

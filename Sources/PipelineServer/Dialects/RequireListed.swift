import Pipeline
import PipelineImages

/// Refuses a part or a size that the source's `info.json` doesn't list.
struct RequireListed: Stage {
    let accepts: Phases = .original
    let produces: Phases = .original
    /// As the path has them.
    let region, size: String

    var parameters: String { "\(region), \(size)" }

    var identity: StageIdentity? { StageIdentity(region, size) }

    func run(_ load: inout Load) async throws -> Outcome {
        // An earlier stage has checked it.
        let native = try await load.header(limits: ImageLimits()).size
        let info = IIIFInfo(id: "", size: native, longestSide: 0)
        guard let part = IIIFCanonical.region(region, of: native), part.size.width > 0, part.size.height > 0,
            let result = IIIFCanonical.size(size, of: part.size), info.lists(part, result)
        else {
            throw LoadError(
                .untransformable, subject: load.subject, "The region \(region) in the size \(size) is not in info.json."
            )
        }
        return .done
    }
}

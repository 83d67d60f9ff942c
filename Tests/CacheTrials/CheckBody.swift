import Foundation
import Pipeline

/// Takes a body for pixels if it is, byte for byte, one of the URL that was asked for.
struct CheckBody: Stage {
    let accepts: Phases = .original
    let produces: Phases = .decoded

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .original(let image) = load.content, case .url(let url) = load.request.source else {
            return .skipped
        }
        _ = try TrialCache.check(image.bytes, is: url.lastPathComponent)
        load.advance(to: .decoded(DecodedImage(size: 1, layout: .rgb, pixels: [0, 0, 0])))
        return .done
    }
}

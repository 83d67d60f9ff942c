import Pipeline
import PipelineImages

/// Ends a list with the source's size in pixels instead of a picture, as the text `WIDTH HEIGHT`. Only the header is read.
struct DescribeImage: Stage {
    let accepts: Phases = .original
    let produces: Phases = .encoded
    let limits: ImageLimits

    var signature: String? { "describe" }

    func run(_ load: inout Load) async throws -> Outcome {
        let size = try await load.header(limits: limits).size
        load.advance(
            to: .encoded(EncodedImage(bytes: Array("\(size.width) \(size.height)".utf8), size: size, nativeSize: size)))
        return .done
    }
}

/// Ends a list with the picture's ThumbHash instead of a picture.
struct HashImage: Stage {
    let accepts: Phases = .decoded
    let produces: Phases = .encoded

    var signature: String? { "thumbhash" }

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .decoded(let image) = load.content else { return .skipped }
        let hash = try await image.thumbHash()
        load.advance(to: .encoded(EncodedImage(bytes: hash, size: image.size, nativeSize: image.nativeSize)))
        return .done
    }
}

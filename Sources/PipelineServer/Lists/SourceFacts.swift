import Essentials
import Pipeline
import PipelineImages

/// Leaves what the source's bytes say of the picture on the load, for ``WriteFacts``.
struct ReadFacts: Stage {
    let accepts: Phases = .original
    let produces: Phases = .original
    let limits: ImageLimits

    var signature: String? { "readFacts" }

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .original(let file) = load.content else { return .skipped }
        load.attach(SourceFacts(header: try await load.header(limits: limits), bytes: file.bytes.count))
        return .done
    }
}

/// Ends a list with the facts of the source as JSON instead of a picture.
struct WriteFacts: Stage {
    let accepts: Phases = .decoded
    let produces: Phases = .encoded

    var signature: String? { "facts" }

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .decoded(let image) = load.content, let facts = load.attachment(SourceFacts.self) else {
            return .skipped
        }
        let text = facts.json(hash: try await image.thumbHash(), colors: try await image.dominantColors())
        load.advance(
            to: .encoded(EncodedImage(bytes: Array(text.utf8), size: image.size, nativeSize: image.nativeSize)))
        return .done
    }
}

/// What the source's bytes say of the picture.
private struct SourceFacts: LoadAttachment {
    let header: ImageHeader
    let bytes: Int

    func json(hash: [UInt8], colors: [DominantColor]) -> String {
        let names = colors.map { "\"\($0.color)\"" }.joined(separator: ",")
        return "{\"format\":\(header.format.rawValue.jsonText),\"width\":\(header.size.width),"
            + "\"height\":\(header.size.height),\"frames\":\(header.frames),\"bytes\":\(bytes),"
            + "\"hasAlpha\":\(header.hasAlpha),\"thumbhash\":\"\(Data(hash).base64EncodedString())\","
            + "\"colors\":[\(names)]}"
    }
}

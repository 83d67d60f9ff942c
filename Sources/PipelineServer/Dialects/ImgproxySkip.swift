import Pipeline
import PipelineImages

/// Passes on files of some formats as they are, for the option `skip_processing`. Their headers have been checked.
struct ImgproxySkip: Stage {
    let accepts: Phases = .original
    let produces: Phases = [.original, .encoded]
    /// The formats to pass on.
    let formats: Set<ImageFormat>
    /// The format that the path asks for: files of others are converted. `nil` for none.
    let wanted: ImageFormat?
    let limits: ImageLimits

    var signature: String? { "imgproxySkip(\(parameters))" }

    var parameters: String {
        let names = formats.map(\.rawValue).sorted().joined(separator: " ")
        return wanted.map { "\(names) as \($0.rawValue)" } ?? names
    }

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .original(let file) = load.content else { return .skipped }
        let header = try await load.header(limits: limits)
        guard formats.contains(header.format), wanted ?? header.format == header.format else { return .skipped }
        load.advance(
            to: .encoded(
                EncodedImage(
                    bytes: file.bytes, declaredType: header.format.rawValue, size: header.size, nativeSize: header.size)
            ))
        return .done
    }
}

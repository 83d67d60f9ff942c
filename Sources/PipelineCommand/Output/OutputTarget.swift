import Pipeline
import Stages

/// Where one result goes, and in which format.
struct OutputTarget: Sendable {
    enum Destination: Sendable {
        case standardOutput
        case file(OutputPattern, OutputName)
        case path(String)
    }

    let destination: Destination
    let format: ImageFormat
    /// Whether the format is that of the source's bytes, which are read first.
    var followsSource = false
    /// The requested width, if it is known before the image is loaded.
    var width: Int?

    /// The target with the format of a source's bytes, if it follows them.
    func following(_ source: ImageSource) -> OutputTarget {
        guard followsSource else { return self }
        let bytes: [UInt8]? =
            switch source {
            case .bytes(let bytes): bytes
            case .dataURL(let text): (try? DataURL(text))?.image.bytes
            default: nil
            }
        guard let own = bytes.flatMap({ Formats.codecs.format(of: $0) }) else { return self }
        return OutputTarget(destination: destination, format: own.ofResult, width: width)
    }

    /// The format of the result for a source's header.
    func format(of header: ImageHeader) -> ImageFormat { followsSource ? header.format.ofResult : format }

    /// Whether the result may have several frames.
    var mayHoldMotion: Bool { followsSource || format.holdsMotion }

    /// The stage that encodes the result.
    func encoder(_ encode: @escaping @Sendable (ImageFormat) -> Encode) -> any Stage {
        followsSource ? EncodeAsSource(encode: encode) : encode(format)
    }

    /// The path as far as it is known before the image is loaded; `nil` for standard output.
    var plannedPath: String? { path(size: nil) }

    /// The path for an image of a size.
    func path(size: PixelSize?) -> String? {
        switch destination {
        case .standardOutput: nil
        case .file(let pattern, let name): pattern.path(name, format, size: size, width: width)
        case .path(let path): path
        }
    }

    /// The folder of the path, if it is known before the image is loaded; `nil` also for standard output.
    var knownFolder: String? {
        switch destination {
        case .standardOutput: nil
        case .file(let pattern, let name): pattern.folder(name, format, width: width)
        case .path(let path): FileFacts.folder(of: path) ?? "."
        }
    }

    /// Whether ``plannedPath`` is the whole path.
    var isKnown: Bool {
        if case .file(let pattern, _) = destination { pattern.isKnown(width: width) } else { true }
    }
}

extension OutputTarget {
    /// A result that its maker takes, in a format.
    init(_ format: ImageFormat) { self.init(destination: .standardOutput, format: format) }
}

/// Encodes pixels in the format of the file that they come from, which a URL doesn't tell.
struct EncodeAsSource: Stage {
    let accepts: Phases = .decoded
    let produces: Phases = .encoded
    /// Makes the stage that encodes a format.
    let encode: @Sendable (ImageFormat) -> Encode

    var signature: String? { encode(Formats.standard).signature.map { "asSource(\($0))" } }

    func run(_ load: inout Load) async throws -> Outcome {
        let format = load.attachment(DecodedSource.self)?.format.ofResult ?? Formats.standard
        return try await encode(format).run(&load)
    }
}

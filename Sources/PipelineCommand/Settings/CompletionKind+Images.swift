import ArgumentParser
import PipelineImages

extension CompletionKind {
    /// Files whose extensions are an image's, in lower or upper case, and folders.
    static var images: CompletionKind {
        let extensions = ImageCodecs.known.codecs.flatMap(\.extensions)
        return .file(extensions: extensions + extensions.map { $0.uppercased() })
    }
}

/// Takes the source from the request itself: bytes in memory or a `data:` URL; other sources pass.
public struct ReadInline: Stage {
    private let threads: BlockingThreads

    package static let specification = StageSpecification(
        "readInline", "Reads a source that is bytes or a data URL."
    ) { ReadInline() }

    /// Takes bytes and `data:` URLs. `data:` URLs of more than 256 KB are decoded on `threads`.
    public init(threads: BlockingThreads = .files) { self.threads = threads }

    public var accepts: Phases { .empty }

    /// The request's bytes, or still nothing.
    public var produces: Phases { [.empty, .original] }

    /// The bytes it reads aren't an HTTP response.
    public var leaves: Set<ResponseState.Kind> { [] }

    public var identity: StageIdentity? { StageIdentity(over: [threads]) }

    /// Takes the bytes.
    /// - Throws: `LoadError` with `invalidURL` for a `data:` URL that breaks RFC 2397.
    public func run(_ load: inout Load) async throws -> Outcome {
        switch load.request.source {
        case .bytes(let bytes): load.advance(to: .original(EncodedImage(bytes: bytes)), from: .inline)
        case .dataURL(let text) where text.utf8.count > ImageRequest.longInlineSource:
            let image = try await threads.run(priority: load.priority) { _ in try DataURL(text).image }
            load.advance(to: .original(image), from: .inline)
        case .dataURL(let text): load.advance(to: .original(try DataURL(text).image), from: .inline)
        case .url, .file: return .skipped
        }
        return .done
    }
}

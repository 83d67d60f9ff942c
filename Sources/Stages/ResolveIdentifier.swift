public import Pipeline

/// Settles what the caches know the source by: its identifier, else its URL, else its bytes.
///
/// A file without an identifier is known by its path, length and modification time, so that a changed file is another
/// source; asking for these takes a thread of ours. Every other source is resolved without suspending.
public struct ResolveIdentifier: Stage {
    private let threads: BlockingThreads
    private let credentials: CredentialFields

    /// Resolves identifiers.
    /// - Parameters:
    ///   - credentials: the header fields that tell users apart; ``CredentialFields/standard`` by default.
    ///   - threads: where files are looked at.
    public init(credentials: CredentialFields = .standard, threads: BlockingThreads = .files) {
        self.credentials = credentials
        self.threads = threads
    }

    /// Nothing found yet.
    public var accepts: Phases { .empty }

    /// Still nothing: only the identity is settled.
    public var produces: Phases { .empty }

    /// Settles the load's keys.
    /// - Throws: `LoadError` with `fileNotFound` or `fileUnreadable` for a file that isn't there.
    public func run(_ load: inout Load) async throws -> Outcome {
        if let key = SourceKey(load.request, credentials: credentials) {
            load.identify(as: key)
        } else if case .file(let path) = load.request.source {
            let stamp = try await threads.run(priority: load.priority) { _ in try FileStatus(path: path).stamp }
            guard let key = SourceKey(load.request, stamp: stamp, credentials: credentials) else { return .skipped }
            load.identify(as: key)
        }
        if let key = load.sourceKey { load.note(key: .source(key)) }
        return .done
    }
}

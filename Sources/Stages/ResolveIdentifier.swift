public import Pipeline

/// Determines the source's key in the caches: its identifier, else its URL, else its bytes.
///
/// The key of a file without an identifier has its path, length and modification time, so that a changed file is
/// another source. Reading a file's status, and digesting more than 256 KB of bytes or of a `data:` URL, happens on
/// `threads`. Every other source is resolved without suspending.
public struct ResolveIdentifier: Stage, CredentialStage {
    private let kinds: ImageSource.Kinds
    private let threads: BlockingThreads
    package let credentials: CredentialFields

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        StageSpecification("resolveIdentifier", "Checks the source and gives the load its keys in the caches.") {
            ResolveIdentifier(credentials: resources.credentials, allowing: resources.allowedSources)
        }
    }

    /// Makes the stage.
    /// - Parameters:
    ///   - credentials: The header fields that tell users apart; `CredentialFields.standard` by default. A list whose
    ///     cache tells users apart by more fields is refused: pass the cache's own, `cache.users.credentials`.
    ///   - kinds: The sources that are accepted; all by default.
    ///   - threads: The threads that read files' status and digest long sources.
    public init(
        credentials: CredentialFields = .standard, allowing kinds: ImageSource.Kinds = .all,
        threads: BlockingThreads = .files
    ) {
        self.credentials = credentials
        self.kinds = kinds
        self.threads = threads
    }

    public var parameters: String { kinds == .all ? "" : "allowing: \(kinds)" }

    public var identifies: Bool { true }

    public var accepts: Phases { .empty }

    /// Still nothing: only the keys are set.
    public var produces: Phases { .empty }

    public var identity: StageIdentity? {
        StageIdentity("\(kinds.rawValue)", "\(credentials.names.sorted())", over: [threads])
    }

    /// Settles the load's keys.
    /// - Throws: `LoadError` with `refused` for a source of a kind that is not accepted, and with `fileNotFound` or
    ///   `fileUnreadable` for a file that isn't there.
    public func run(_ load: inout Load) async throws -> Outcome {
        if try !resolveAtOnce(&load) {
            guard let key = try await resolved(load) else { return .skipped }
            load.identify(as: key)
        }
        if let key = load.sourceKey { load.note(key: .source(key)) }
        return .done
    }

    // Separate functions, since a load keeps the memory of the largest frame among its stages.

    /// Sets the keys of a source that needs no thread; false for others.
    @inline(never)
    private func resolveAtOnce(_ load: inout Load) throws -> Bool {
        try load.request.source.check(isAmong: kinds)
        guard !load.request.hasLongInlineSource, let key = SourceKey(load.request, credentials: credentials) else {
            return false
        }
        load.identify(as: key)
        return true
    }

    @inline(never)
    private func resolved(_ load: Load) async throws -> SourceKey? {
        if load.request.hasLongInlineSource {
            return try await SourceKey.digested(load.request, credentials, on: threads, load.priority)
        }
        guard case .file(let path) = load.request.source else { return nil }
        let stamp = try await threads.run(priority: load.priority) { _ in try FileStatus(path: path).stamp }
        return SourceKey(load.request, stamp: stamp, credentials: credentials)
    }
}

extension SourceKey {
    /// The key of a request's source, digested on a separate thread if that takes long; `nil` for a file.
    static func resolved(_ request: ImageRequest, credentials: CredentialFields) async -> SourceKey? {
        guard request.hasLongInlineSource else { return SourceKey(request, credentials: credentials) }
        return try? await digested(request, credentials, on: .files, request.priority)
    }

    /// - Throws: `CancellationError` if the task is cancelled.
    fileprivate static func digested(
        _ request: ImageRequest, _ credentials: CredentialFields, on threads: BlockingThreads, _ priority: LoadPriority
    ) async throws -> SourceKey? {
        try await threads.run(priority: priority) { _ in SourceKey(request, credentials: credentials) }
    }
}

/// A stage that looks up, stores or shares by the load's keys.
package protocol KeyedStage: Stage {}

extension KeyedStage {
    public var needsIdentity: Bool { true }
}

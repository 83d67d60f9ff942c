import ArgumentParser
import Essentials
import LibC
import Pipeline
import Stages

/// The option for the cache's folder, shared by all verbs.
struct CacheOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Cache in this folder. (default: the user's cache folder)", valueName: "folder"),
        completion: .directory)
    var cacheDir: String?

    func validate() throws {
        if cacheDir?.hasPathEscapes == true { throw ValidationError("--cache-dir takes a name in UTF-8.") }
    }

    /// Where responses are cached.
    var folder: String { cacheDir ?? HTTPCache.defaultFolder }

    /// The stored responses. Nothing is opened until it is needed.
    func responses(byteLimit: Int? = nil, users: HTTPCache.Users = .several) -> HTTPCache {
        HTTPCache(folder: folder, byteLimit: byteLimit ?? 1_000_000_000, users: users)
    }

    /// The stored responses; `nil` if there is no cache yet, since verbs that only read never make one.
    /// - Throws: ``CacheFailure`` if there is one that can't be used, which must not be taken for an empty one.
    func existing(byteLimit: Int? = nil) async throws -> HTTPCache? {
        guard let facts = FileFacts(folder) else {
            if errno == ENOENT { return nil }
            throw CacheFailure(folder, "can't be read: \(String(cString: strerror(errno)))")
        }
        guard facts.kind == .folder else { throw CacheFailure(folder, "is not a folder") }
        let responses = responses(byteLimit: byteLimit)
        let isThere = HTTPCache.exists(in: folder)
        // A folder of other files is not a cache, and none is made of it.
        let isUsable =
            if isThere {
                try await responses.statistics() != nil
            } else {
                try await !responses.verify().findings.contains { $0.kind == .unusable }
            }
        guard isUsable else {
            throw CacheFailure(folder, "can't be used; \(Program.name) cache verify says why")
        }
        return isThere ? responses : nil
    }

    /// The caches and the client, for sources of up to a number of bytes. Nothing is opened until it is needed.
    func resources(_ addresses: AddressPolicy, sourceBytes: Int) -> PipelineResources {
        var options = CurlClient.Options(addresses: addresses)
        options.maximumBodyBytes = sourceBytes
        // Whether they are confined was decided with the codecs.
        return PipelineResources(
            memory: MemoryCache(), responses: responses(), client: S3URLs(CurlClient(options)), codecs: Formats.codecs,
            isolation: .none)
    }
}

extension PipelineResources {
    /// Resources for lists that are printed and never run.
    static var described: PipelineResources {
        PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: ""), client: CurlClient(), codecs: Formats.codecs,
            isolation: .none)
    }

    /// Waits for background work and closes the cache, but only after jobs with URLs, since closing makes the cache's
    /// folder.
    func close(after jobs: [Job]) async {
        await close(if: jobs.contains { $0.input.hasScheme })
    }

    /// Waits for background work and closes the cache if anything came from the network.
    func close(if isUsed: Bool) async {
        guard isUsed else { return }
        await flights.drain()
        await responses.close()
    }
}

/// A cache that exists and can't be used.
struct CacheFailure: Error, CustomStringConvertible {
    let description: String

    init(_ folder: String, _ reason: String) {
        description = "The cache \(printable(folder)) \(reason). Choose another folder with --cache-dir."
    }
}

/// The options that select entries of the cache, shared by its verbs.
struct CacheFilterOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only older entries, such as 30d, 12h, 90m or 45s.", valueName: "age"))
    var olderThan: TimeArgument?

    @Flag(help: "Measure the age from the last use; the default.") var accessed = false

    @Flag(help: "Measure the age from storing or confirming.") var created = false

    func validate() throws {
        if accessed, created { throw ValidationError("--accessed and --created exclude each other; give one.") }
        if accessed || created, olderThan == nil {
            throw ValidationError(
                "--\(accessed ? "accessed" : "created") says how an age is measured; give --older-than.")
        }
    }

    /// The time from which an age is measured.
    func time(of entry: CacheEntry) -> Date { created ? entry.stored : entry.accessed }

    /// Entries from before this time are selected; `nil` selects all.
    func cutoff(now: Date) -> Date? { olderThan.map { now.addingTimeInterval(-$0.seconds) } }

    /// The entries that a clean-up removes; `nil` if no age was given.
    var stale: HTTPCache.Stale? {
        olderThan.map { created ? .stored(.seconds($0.seconds)) : .unused(.seconds($0.seconds)) }
    }
}

public import HTTPTypes
public import Pipeline
public import PipelineImages

/// What an ``ImageResponder`` serves, to whom, and how much work it takes.
public struct ServerConfiguration: Sendable {
    /// The hosts under which clients ask.
    public var hosts: Hosts
    /// The sources that are loaded. Redirects stay within them.
    public var sources: SourcePolicy
    /// The keys that paths are signed with; `nil` serves every path where there are no ``tenants``.
    public var keys: SigningKeys?
    /// The customers that have their own keys; by default none. See ``setTenants(_:)``.
    public internal(set) var tenants: [Tenant] = []
    /// Whether a server with ``tenants`` and without ``keys`` serves paths that none of them has signed; by default not. Such
    /// a path has the spelling of an unsigned one, and belongs to no tenant.
    public var servesUnsigned = false
    /// The kinds of paths.
    public var dialects: [any Dialect]
    /// The proxies that name their clients; by default none.
    public var clients = ClientAddresses()
    /// How many requests a second each client may send; 0 for any number. 100 by default.
    public var requestsPerSecond = 100.0
    /// How many requests a client may send at once; 400 by default.
    public var burst = 400
    /// The most results in progress and waiting; further requests get 503. 256 by default.
    public var queueLimit = 256
    /// The most results in progress and waiting whose sources have the same host; `nil`, the default, for a quarter of
    /// ``queueLimit``. Each tenant's share of an origin is counted by itself.
    public var originQueueLimit: Int?
    /// How long files, and responses without a lifetime of their own, are fresh; an hour by default.
    public var maxAge = Duration.seconds(3600)
    /// How long a source that its origin doesn't give isn't asked for again; 5 seconds by default, zero for not at all.
    public var errorMaxAge = Duration.seconds(5)
    /// The lifetimes of sources that have their own; by default none.
    public var lifetimes: [SourceLifetime] = []
    /// What a client has to send, as `Authorization: Bearer TOKEN`, with a request `PURGE` for a picture's path: it removes
    /// the path's source and all its results, for a tenant's path in its own part of the caches. `nil`, the default, refuses the method. Choose 16 bytes at least.
    public var purgeToken: String?
    /// The file of a picture that stands in for a source that can't be loaded, with status 200 and the field
    /// `Fallback-Image`. By default there is none, and such a request gets a problem document.
    public var fallback: [UInt8]?
    /// How long caches may keep a result with ``fallback``; a minute by default.
    public var fallbackMaxAge = Duration.seconds(60)
    /// The quality of results whose path has none, 1 to 100; 80 by default.
    public var quality = 80
    /// The quality of formats that have another one, where a path names none; by default none.
    public var qualities: [ImageFormat: Int] = [:]
    /// The pixels of the results, width times height, that a format is chosen for where a path names none, such as
    /// `[.avif: 0...2_000_000]`, since AVIF takes long. By default any.
    public var sizes: [ImageFormat: ClosedRange<Int>] = [:]
    /// The quality of decoding; `fast` by default, whose difference is invisible after encoding.
    public var decodeQuality = DecodeQuality.fast
    /// What becomes of HDR gain maps; `nil`, the default, keeps them where the result can hold them.
    public var gainMap: GainMapHandling?
    /// Whether pages of any origin may read pictures and their descriptions, by CORS; by default they may. Say no for a
    /// server without signatures on a loopback address: every page in this machine's browser could read all pictures.
    public var isCrossOrigin = true
    /// Changes every list before it is used, such as `{ $0.sharing(fleet) }`; by default nothing.
    public var arrangement: @Sendable (ImagePipeline) -> ImagePipeline = { $0 }
    /// Answers what is neither a picture nor a probe; `nil` for a path that it doesn't know. By default nothing.
    public var pages: @Sendable (HTTPRequest, ImageResponder) async throws -> Reply? = { _, _ in nil }

    /// The most bytes of recent replies that a responder keeps besides its loader's memory cache, for each tenant once more.
    public static let replyBytes = RecentValues<Int, Int>.maximumCount * PlannedLoad.maximumKept

    /// Makes a configuration; everything else has a default.
    /// - Parameters:
    ///   - hosts: The hosts under which clients ask.
    ///   - sources: The sources that are loaded.
    ///   - keys: The keys that paths are signed with; `nil` serves every path.
    ///   - dialects: The kinds of paths; those of this module by default.
    /// - Throws: ``ServerConfigurationError`` for dialects that can't be made, which those of this module can.
    public init(
        hosts: Hosts, sources: SourcePolicy, keys: SigningKeys?, dialects: [any Dialect]? = nil
    ) throws(ServerConfigurationError) {
        (self.hosts, self.sources, self.keys) = (hosts, sources, keys)
        if let dialects {
            self.dialects = dialects
        } else {
            self.dialects = [
                IIIFDialect(), try ImgproxyDialect(), InfoDialect(), try ThumbDialect(), ThumborDialect(),
            ]
        }
    }
}

/// A setting of a server that can't be used.
public struct ServerConfigurationError: Error, Sendable, CustomStringConvertible {
    /// What is wrong with it, and what to do.
    public let description: String

    init(_ description: String) { self.description = description }
}

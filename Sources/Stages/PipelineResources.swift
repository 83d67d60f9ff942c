import PipelineImages
import PipelineHTTP
public import Pipeline

/// What pipelines share: the caches, the loads under way, the client and the time.
///
/// Pipelines made of the same resources see each other's entries and join each other's fetches.
public struct PipelineResources: Sendable {
    /// Products in memory.
    public var memory: MemoryCache
    /// Responses on disk.
    public var responses: HTTPCache
    /// The loads under way.
    public var flights: Flights
    /// What sends requests.
    public var client: any HTTPClient
    /// The formats that are read and written; `ImageCodecs.standard` by default.
    public var codecs: ImageCodecs
    /// What images may cost.
    public var limits: ImageLimits
    /// How near a reduced picture comes to the best that can be made of its source; `DecodeQuality.quality` by default.
    public var quality = DecodeQuality.quality
    /// Whether a file that is cut off gives what can be read of it; by default it is an error.
    public var allowTruncated = false
    /// How often an origin that answers with an error is asked again; `nil`, the default, for as often as it is wanted.
    public var errorLimits: ErrorLimits?
    /// The kinds of sources that are loaded; `ImageSource.Kinds.all` by default. A program that takes sources
    /// from others allows `ImageSource.Kinds.remote` alone.
    public var allowedSources = ImageSource.Kinds.all
    /// The time that loads live by.
    public var clock: any LoadClock

    /// Gathers resources.
    public init(
        memory: MemoryCache, responses: HTTPCache, flights: Flights = Flights(), client: any HTTPClient,
        codecs: ImageCodecs = .standard, limits: ImageLimits = ImageLimits(), errorLimits: ErrorLimits? = nil,
        clock: any LoadClock = SystemClock()
    ) {
        self.memory = memory
        self.responses = responses
        self.flights = flights
        self.client = client
        self.codecs = codecs
        self.limits = limits
        self.errorLimits = errorLimits
        self.clock = clock
    }

    /// The header fields that tell users apart: those of ``responses``.
    public var credentials: CredentialFields { responses.users.credentials }

    /// The decoder of a policy's list.
    var decode: Decode { Decode(codecs: codecs, limits: limits, quality: quality, allowTruncated: allowTruncated) }
}

public import PipelineImages
import PipelineHTTP
public import Pipeline

/// The resources that pipelines share: the caches, the loads under way, the client and the clock.
///
/// Pipelines made of the same resources see each other's entries and join each other's fetches.
public struct PipelineResources: Sendable {
    /// Products in memory.
    public var memory: MemoryCache
    /// Responses on disk.
    public var responses: HTTPCache { didSet { responses.register(flights) } }
    /// The loads under way. After a removal from ``responses`` no load joins those that began before it.
    public var flights: Flights { didSet { responses.register(flights) } }
    /// The client that sends requests.
    public var client: any TransferClient
    /// The formats that are read and written; `ImageCodecs.standard` by default. Those of this package are confined by
    /// ``isolation`` when they are read here; others are as they were set.
    public var codecs: ImageCodecs {
        get { isolation.codecs(chosenCodecs, within: limits) }
        set { chosenCodecs = newValue }
    }
    /// Whether images are decoded in confined processes; by default as far as the system allows.
    public var isolation: Isolation
    /// The limits of images: pixels, bytes and frames.
    public var limits: ImageLimits
    /// The memory that decodes may take together, and that stages of your own may claim; `MemoryBudget.decoding`, 512 MB
    /// for all loaders of the program, by default.
    public var budget = MemoryBudget.decoding
    /// How good reduced images are, against how fast they are decoded; `DecodeQuality.quality` by default.
    public var quality = DecodeQuality.quality
    /// Whether a truncated file yields the part that can be read; by default it is an error.
    public var allowTruncated = false
    /// How often an origin that answers with errors is asked again; `nil`, the default, sets no limit.
    public var errorLimits: ErrorLimits?
    /// The kinds of sources that are loaded; `ImageSource.Kinds.all` by default. A program that takes sources from
    /// others should allow only `ImageSource.Kinds.remote`.
    public var allowedSources = ImageSource.Kinds.all
    /// The clock of all loads: that of ``responses``, since an age that two clocks measure is wrong.
    public var clock: any LoadClock { responses.clock }

    private var chosenCodecs: ImageCodecs

    /// Makes resources. The clock is that of `responses`.
    public init(
        memory: MemoryCache, responses: HTTPCache, flights: Flights = Flights(), client: any TransferClient,
        codecs: ImageCodecs = .standard, isolation: Isolation = .automatic, limits: ImageLimits = ImageLimits(),
        errorLimits: ErrorLimits? = nil
    ) {
        self.memory = memory
        self.responses = responses
        self.flights = flights
        self.client = client
        chosenCodecs = codecs
        self.isolation = isolation
        self.limits = limits
        self.errorLimits = errorLimits
        responses.register(flights)
    }

    /// The header fields that tell users apart: those of ``responses``.
    public var credentials: CredentialFields { responses.users.credentials }

    /// The decoder of a policy's list.
    package var decode: Decode {
        Decode(codecs: codecs, limits: limits, quality: quality, allowTruncated: allowTruncated, budget: budget)
    }
}

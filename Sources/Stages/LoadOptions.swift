public import HTTPTypes
public import Pipeline

/// How one load of an ``ImageLoader`` differs from the others.
public struct LoadOptions: Sendable, Hashable {
    /// The box that the image has to fit, in pixels, after orientation; 300×300 by default. `nil` keeps the source's
    /// size; a smaller source is never enlarged.
    public var maxPixelSize: PixelSize?
    /// Which caches are used, and in which order; ``CachePolicy/standard`` by default.
    public var policy: CachePolicy
    /// Replaces the URL as the key in every cache; `nil` by default.
    public var identifier: String?
    /// Who decides how long the image is fresh; `Expiry.standard` by default: the server, or 24 hours.
    public var expiry: Expiry
    /// Header fields for the origin; none by default.
    public var headers: HTTPFields
    /// Keeps the entries of one caller from every other's; `nil` by default.
    public var partition: String?
    /// How urgent the load is; normal by default.
    public var priority: LoadPriority
    /// How many frames of an animation to decode at most; `nil`, the default, for as many as the loader's
    /// `ImageLimits.frames` say, which is one.
    public var frames: Int?
    /// How long the load may take in all, from its beginning to its image; `nil`, the default, for any time. Then it fails
    /// with `LoadError.Code.timedOut`, as in a ``Timeout``. What other loads share with it continues for them.
    public var timeout: Duration?

    /// Describes a load.
    public init(
        maxPixelSize: PixelSize? = 300, policy: CachePolicy = .standard, identifier: String? = nil,
        expiry: Expiry = .standard, headers: HTTPFields = [:], partition: String? = nil,
        priority: LoadPriority = .normal, frames: Int? = nil, timeout: Duration? = nil
    ) {
        self.frames = frames
        self.timeout = timeout
        self.maxPixelSize = maxPixelSize
        self.policy = policy
        self.identifier = identifier
        self.expiry = expiry
        self.headers = headers
        self.partition = partition
        self.priority = priority
    }

    /// The request for a source with these options.
    public func request(for source: ImageSource) -> ImageRequest {
        ImageRequest(
            source, maxPixelSize: maxPixelSize, identifier: identifier, expiry: expiry, headers: headers,
            partition: partition, priority: priority, frames: frames)
    }
}

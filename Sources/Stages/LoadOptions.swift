public import HTTPTypes
public import Pipeline

/// The options of a load of an ``ImageLoader``.
public struct LoadOptions: Sendable, Hashable {
    /// The box that the image has to fit, in pixels, after orientation; 300×300 by default. `nil` keeps the source's
    /// size; a smaller source is never enlarged. One side may be 0, for any length: 100×0 is 100 pixels wide. With both
    /// sides 0, or a negative one, the load fails with `LoadError.Code.invalidSize`.
    public var maxPixelSize: PixelSize?
    /// Which caches are used, and in which order; ``CachePolicy/standard`` by default.
    public var policy: CachePolicy
    /// Replaces the URL as the key in every cache; `nil` by default.
    public var identifier: String?
    /// How long the image is fresh; by default `Expiry.standard`: as long as the server says, or else 24 hours.
    public var expiry: Expiry
    /// Header fields for the origin; none by default. Credentials among them are part of every key; see `CredentialFields`.
    /// Their names, such as `.authorization`, come with `import HTTPTypes`.
    public var headers: HTTPFields
    /// Separates the cache entries of one user from those of all others; `nil` by default.
    public var partition: String?
    /// How urgent the load is; normal by default.
    public var priority: LoadPriority
    /// The most frames of an animation to decode. `nil`, the default, stands for the loader's `ImageLimits.frames`,
    /// which is one by default.
    public var frames: Int?
    /// How long the whole load may take; `nil`, the default, for any time. After that it fails with
    /// `LoadError.Code.timedOut`, as in a ``Timeout``. Work that other loads share continues for them.
    public var timeout: Duration?
    /// Names by which `HTTPCache.remove(tag:)` removes the response from disk and memory; none by default. See
    /// `ImageRequest.tags`.
    public var tags: Set<String>

    /// Makes the options of a load.
    public init(
        maxPixelSize: PixelSize? = 300, policy: CachePolicy = .standard, identifier: String? = nil,
        expiry: Expiry = .standard, headers: HTTPFields = [:], partition: String? = nil,
        priority: LoadPriority = .normal, frames: Int? = nil, timeout: Duration? = nil, tags: Set<String> = []
    ) {
        self.frames = frames
        self.timeout = timeout
        self.tags = tags
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
            partition: partition, priority: priority, frames: frames, tags: tags)
    }
}

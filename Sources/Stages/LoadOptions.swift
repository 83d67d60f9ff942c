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

    /// Describes a load.
    public init(
        maxPixelSize: PixelSize? = 300, policy: CachePolicy = .standard, identifier: String? = nil,
        expiry: Expiry = .standard, headers: HTTPFields = [:], partition: String? = nil,
        priority: LoadPriority = .normal
    ) {
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
            source, identifier: identifier, maxPixelSize: maxPixelSize, headers: headers, partition: partition,
            priority: priority, expiry: expiry)
    }
}

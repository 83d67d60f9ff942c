public import HTTPTypes
public import Pipeline

/// The options of a load of an ``ImageLoader``: an `ImageRequest` whose source is still open, with a policy and a limit
/// of time.
///
/// ```swift
/// var options = LoadOptions(maxPixelSize: 640, timeout: .seconds(5))
/// options.partition = "ann"
/// ```
///
/// The properties of `ImageRequest` are this type's too, with the same meaning and the same defaults but one: an image
/// fits 300×300 pixels unless `maxPixelSize` says otherwise. A loader shows pictures, and an original of 50 megapixels
/// takes 200 MB.
@dynamicMemberLookup
public struct LoadOptions: Sendable, Hashable {
    /// Which caches are used, and in which order; ``CachePolicy/standard`` by default.
    public var policy: CachePolicy
    /// How long the whole load may take; `nil`, the default, for any time. After that it fails with
    /// `LoadError.Code.timedOut`, as in a ``Timeout``. Work that other loads share continues for them.
    public var timeout: Duration?
    private var request: ImageRequest

    /// Makes the options of a load.
    public init(
        maxPixelSize: PixelSize? = 300, policy: CachePolicy = .standard, identifier: String? = nil,
        expiry: Expiry = .standard, headers: HTTPFields = [:], partition: String? = nil,
        priority: LoadPriority = .normal, frames: Int? = nil, timeout: Duration? = nil, tags: Set<String> = [],
        staleIfError: Duration? = nil, gamut: Gamut? = nil,
        depth: Depth? = nil, gainMap: GainMapHandling? = nil
    ) {
        self.policy = policy
        self.timeout = timeout
        request = ImageRequest(
            .bytes([]), maxPixelSize: maxPixelSize, identifier: identifier, expiry: expiry, headers: headers,
            partition: partition, priority: priority, frames: frames, tags: tags, staleIfError: staleIfError,
            gamut: gamut, depth: depth, gainMap: gainMap)
    }

    /// A property of the request, such as `maxPixelSize`.
    public subscript<Value>(dynamicMember property: WritableKeyPath<ImageRequest, Value>) -> Value {
        get { request[keyPath: property] }
        set { request[keyPath: property] = newValue }
    }

    /// Options have no source.
    @available(*, unavailable, message: "Pass the source to the load; options are for any.")
    public var source: ImageSource { request.source }

    /// The request for a source with these options.
    public func request(for source: ImageSource) -> ImageRequest {
        var request = request
        request.source = source
        return request
    }
}

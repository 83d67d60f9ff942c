public import FoundationEssentials
public import HTTPTypes

/// What is wanted: a source, how large, and what the caches should know it by.
public struct ImageRequest: Sendable, Hashable {
    /// Where the bytes are to be had.
    public var source: ImageSource
    /// Replaces the URL or path as the key in every cache, as for signed URLs; `nil` by default.
    public var identifier: String?
    /// The box that the decoded image has to fit, in pixels, after orientation. The default, `nil`, keeps the source's
    /// size; a smaller source is never enlarged.
    public var maxPixelSize: PixelSize?
    /// Header fields for the origin (RFC 9110 section 6.3). Requests with different ones never share an entry in
    /// memory nor a flight.
    public var headers: HTTPFields
    /// Keeps the entries of one caller, such as a tenant, from every other's; `nil` by default.
    public var partition: String?
    /// How urgent the load is; ``LoadPriority/normal`` by default.
    public var priority: LoadPriority
    /// Who decides how long the image is fresh; ``Expiry/standard`` by default.
    public var expiry: Expiry

    /// Asks for the image of a source.
    public init(
        _ source: ImageSource, identifier: String? = nil, maxPixelSize: PixelSize? = nil, headers: HTTPFields = [:],
        partition: String? = nil, priority: LoadPriority = .normal, expiry: Expiry = .standard
    ) {
        self.source = source
        self.identifier = identifier
        self.maxPixelSize = maxPixelSize
        self.headers = headers
        self.partition = partition
        self.priority = priority
        self.expiry = expiry
    }

    /// Asks for the image at an http or https URL, in a file (`file:` URL) or in a `data:` URL.
    public init(_ url: URL, identifier: String? = nil, maxPixelSize: PixelSize? = nil) {
        self.init(ImageSource(url), identifier: identifier, maxPixelSize: maxPixelSize)
    }

    /// The digest of all headers, or `nil` without any.
    var headersDigest: Digest? {
        guard !headers.isEmpty else { return nil }
        var hash = BLAKE2b()
        for field in headers {
            hash.update(field.name.canonicalName)
            hash.update(field.value)
        }
        return hash.finalize()
    }
}

public import Essentials
public import HTTPTypes

/// An image to load: its source, how large it may be, and how caches identify it.
public struct ImageRequest: Sendable, Hashable {
    /// Where the bytes come from.
    public var source: ImageSource
    /// The box that the decoded image has to fit, in pixels, after orientation. The default, `nil`, keeps the source's
    /// size; a smaller source is never enlarged. One side may be 0, for any length: 100×0 is 100 pixels wide. With both
    /// sides 0, or a negative one, the load fails with ``LoadError/Code/invalidSize``.
    public var maxPixelSize: PixelSize?
    /// Replaces the URL or path as the key in every cache, as for signed URLs; `nil` by default.
    public var identifier: String?
    /// Who decides how long the image is fresh; ``Expiry/standard`` by default.
    public var expiry: Expiry
    /// Header fields for the origin (RFC 9110 section 6.3). Requests with different fields never share an entry in
    /// memory, nor a fetch.
    ///
    /// On disk, requests share a response unless its `Vary` tells them apart, their ``CredentialFields`` differ, or the
    /// response is `private`. For a `private` response all fields count, except those that say nothing of the user,
    /// such as `Accept`. A program with several users that identifies them by another field adds that field to the
    /// list, or gives each user a ``partition``.
    ///
    /// Conditions such as `If-None-Match` are left out: the cache sends its own.
    public var headers: HTTPFields
    /// Names a caller, such as a user or tenant, whose cache entries no other caller shares; `nil` by default. Unlike
    /// header fields, it stays the same when a user's token changes.
    public var partition: String?
    /// How urgent the load is; ``LoadPriority/normal`` by default.
    public var priority: LoadPriority
    /// How many frames of an animation to decode at most; `nil`, the default, for as many as the list's `Decode` says.
    /// Results with different numbers are different entries in the caches.
    public var frames: Int?
    /// Names by which the response can be removed from every cache, next to those that the origin gives it; none by
    /// default. A product, an article or a customer whose pictures change together is such a name.
    ///
    /// A response has the tags of every request that got it, whether it was fetched, waited for or found. An image in
    /// memory that lacks a tag is made again from its stored response, once. Keys don't depend on tags.
    public var tags: Set<String>
    /// How long after its freshness has ended a stored image stands in for an origin that fails: one that responds with
    /// any 5xx status. `nil`, the default, leaves that to the response's `stale-if-error` (RFC 5861 section 4).
    ///
    /// A response with `must-revalidate` or `no-cache` never stands in (RFC 9111 section 4.2.4). An origin that can't be
    /// reached needs no such option: any stale image stands in for it, whatever its age.
    public var staleIfError: Duration?
    /// The colours in which the list has its pixels; `nil`, the default, for what the list's `Decode` says. Results with
    /// different choices are different entries in the caches.
    public var gamut: Gamut?
    /// The bits of a channel; `nil`, the default, for what the list's `Decode` says. Results with different choices are
    /// different entries in the caches.
    public var depth: Depth?
    /// What becomes of a gain map; `nil`, the default, for what the list's `Decode` says. Results with different choices are
    /// different entries in the caches.
    public var gainMap: GainMapHandling?
}

extension ImageRequest {
    /// Asks for the image of a source.
    public init(
        _ source: ImageSource, maxPixelSize: PixelSize? = nil, identifier: String? = nil, expiry: Expiry = .standard,
        headers: HTTPFields = [:], partition: String? = nil, priority: LoadPriority = .normal, frames: Int? = nil,
        tags: Set<String> = [], staleIfError: Duration? = nil, gamut: Gamut? = nil,
        depth: Depth? = nil, gainMap: GainMapHandling? = nil
    ) {
        self.init(
            source: source, maxPixelSize: maxPixelSize, identifier: identifier, expiry: expiry, headers: headers,
            partition: partition, priority: priority, frames: frames, tags: tags, staleIfError: staleIfError,
            gamut: gamut, depth: depth, gainMap: gainMap)
    }

    /// Asks for the image at an http or https URL, in a file (`file:` URL) or in a `data:` URL.
    public init(_ url: URL, maxPixelSize: PixelSize? = nil, identifier: String? = nil) {
        self.init(ImageSource(url), maxPixelSize: maxPixelSize, identifier: identifier)
    }

    /// The digest of all headers, or `nil` without any.
    var headersDigest: BLAKE2bDigest? {
        guard !headers.isEmpty else { return nil }
        var hash = BLAKE2b()
        for field in headers {
            hash.update(field.name.canonicalName)
            hash.update(valueOf: field)
        }
        return hash.finalize()
    }
}

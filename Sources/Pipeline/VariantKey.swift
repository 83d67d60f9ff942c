/// The identity of a list's final product: which source, how large, made by which stages, asked for with which headers.
///
/// It holds the ``SourceKey``, so that all variants of a source can be removed together. Another type than `SourceKey`
/// on purpose: a thumbnail can't be stored under its original's key.
public struct VariantKey: Sendable, Hashable {
    /// The source that the product was made from.
    public let source: SourceKey
    /// The box that the product fits; `nil` for the source's own size.
    public let maxPixelSize: PixelSize?
    /// The digest of what the list's stages do to the pixels.
    public let list: Digest
    /// The digest of all headers that the caller gave; `nil` without any.
    public let headers: Digest?

    /// The key of what a list with the signature `list` makes of a request.
    public init(source: SourceKey, request: ImageRequest, list: Digest) {
        self.source = source
        self.maxPixelSize = request.maxPixelSize
        self.list = list
        self.headers = request.headersDigest
    }

    /// Feeds what differs between variants; the rest is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(source.digest.words[0] ^ list.words[0] ^ (headers?.words[0] ?? 0))
        hasher.combine(maxPixelSize?.width ?? 0)
    }
}

extension VariantKey: CustomStringConvertible {
    /// The source's key and, in short, what is made of it.
    public var description: String {
        let box = maxPixelSize.map { "\($0.width)x\($0.height)" } ?? "native"
        return "\(source)/\(box)/\(list.description.prefix(8))"
            + (headers.map { "/\($0.description.prefix(8))" } ?? "")
    }
}

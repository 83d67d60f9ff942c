import HTTPTypes

/// The identity of a source's bytes: its identifier or URL, the caller's partition and a digest of its Authorization.
///
/// Two requests that could be answered with different bytes never have the same key.
public struct SourceKey: Sendable, Hashable {
    /// What the next words of the digested text are. Stores keep the digests: never give a number another meaning.
    private enum Part: UInt64 { case url = 1, dataURL, bytes, file, identifier, partition, authorization }

    /// The 32 bytes that stores are keyed by.
    public let digest: Digest

    /// Wraps a digest, such as one read back from a store.
    public init(digest: Digest) { self.digest = digest }

    /// The key of a request's source, or `nil` where an identity has to be found first: a file without an identifier.
    /// - Parameters:
    ///   - request: what is wanted.
    ///   - stamp: what tells two states of a file apart, such as its modification time and length.
    public init?(_ request: borrowing ImageRequest, stamp: String? = nil) {
        var hash = BLAKE2b()
        if let identifier = request.identifier {
            hash.update(Part.identifier.rawValue)
            hash.update(identifier)
        } else {
            switch request.source {
            case .url(let url):
                hash.update(Part.url.rawValue)
                hash.update(url.identityText)
            case .dataURL(let text):
                hash.update(Part.dataURL.rawValue)
                hash.update(text)
            case .bytes(let bytes):
                hash.update(Part.bytes.rawValue)
                hash.update(UInt64(bytes.count))
                hash.update(bytes)
            case .file(let path):
                guard let stamp else { return nil }
                hash.update(Part.file.rawValue)
                hash.update(path)
                hash.update(stamp)
            }
        }
        if let partition = request.partition {
            hash.update(Part.partition.rawValue)
            hash.update(partition)
        }
        if !request.headers.isEmpty, let authorization = request.headers[.authorization] {
            hash.update(Part.authorization.rawValue)
            hash.update(authorization)
        }
        digest = hash.finalize()
    }
}

extension SourceKey: CustomStringConvertible {
    /// 64 hexadecimal digits.
    public var description: String { digest.description }
}

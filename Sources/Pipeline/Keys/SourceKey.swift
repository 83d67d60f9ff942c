import HTTPTypes

/// The identity of a source's bytes: its identifier or URL, the caller's partition, and the caller's credentials.
///
/// Credentials are the fields of a ``CredentialFields`` list. Other header fields are not part of the key: which of them
/// select among several responses is known only from the response's `Vary` (RFC 9111 section 4.1), and the cache of
/// responses applies that. A server whose users are told apart by anything else, such as a client certificate or a
/// header field of its own, adds the field to the list, or gives each user a partition.
///
/// The values themselves are part of the key. A user whose token is renewed starts with an empty cache; to keep the
/// entries, send the token from the client (`Rewritten`) and name the user by the request's partition instead.
public struct SourceKey: Sendable, Hashable, Codable {
    /// What comes next in the digested text. Stores keep the digests, so never give a number another meaning.
    private enum Part: UInt64 { case url = 1, dataURL, bytes, file, identifier, partition, authorization, credential }

    /// The version of the digest, which caches that several releases share have in their keys. A release that digests
    /// the same request otherwise increments it.
    package static let version: UInt64 = 1

    /// The 32 bytes that stores are keyed by.
    public private(set) var digest: BLAKE2bDigest

    /// Wraps a digest, such as one read back from a store.
    public init(digest: BLAKE2bDigest) { self.digest = digest }

    /// The key of a request's source, or `nil` for a file with neither an identifier nor a stamp.
    /// - Parameters:
    ///   - request: the image to load.
    ///   - stamp: changes whenever the file does, such as its modification time and length.
    ///   - credentials: the header fields that tell users apart; ``CredentialFields/standard`` by default.
    public init?(
        _ request: borrowing ImageRequest, stamp: String? = nil, credentials: CredentialFields = .standard
    ) {
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
        // Checked first: most requests have no fields, and a memory hit has no time.
        if !request.headers.isEmpty { Self.update(&hash, with: request.headers, credentials) }
        digest = hash.finalize()
        // So that the keys of a partition can be recognised by themselves.
        if let partition = request.partition { digest = digest.ending(in: BLAKE2bDigest(of: partition)) }
    }

    /// Whether the key belongs to a partition. A key of another partition matches once in 2^64.
    package func isOf(partition: BLAKE2bDigest) -> Bool { digest == digest.ending(in: partition) }

    private static func update(_ hash: inout BLAKE2b, with headers: HTTPFields, _ credentials: CredentialFields) {
        // The order of different fields means nothing, but lines of one field keep theirs, which `sort` alone doesn't
        // promise.
        let given = headers.enumerated().filter { credentials.contains($0.element.name) }
            .sorted { ($0.element.name.canonicalName, $0.offset) < ($1.element.name.canonicalName, $1.offset) }
        for (_, field) in given {
            if field.name == .authorization {
                hash.update(Part.authorization.rawValue)
            } else {
                hash.update(Part.credential.rawValue)
                hash.update(field.name.canonicalName)
            }
            hash.update(valueOf: field)
        }
    }
}

extension BLAKE2b {
    /// Takes the length and the bytes of a field's value. As text, two values that are not UTF-8 may look the same.
    mutating func update(valueOf field: HTTPField) {
        field.withUnsafeBytesOfValue {
            update(UInt64($0.count))
            update(UnsafeRawBufferPointer($0))
        }
    }
}

extension SourceKey: CustomStringConvertible {
    /// 64 hexadecimal digits.
    public var description: String { digest.description }
}

public import Pipeline

extension StoredResponse {
    /// The response as bytes, for a store that keeps bytes: with its key, its generation and its body, which comes last.
    ///
    /// The form is this, numbers being little-endian: 32 bytes of the key's digest, 8 of the generation, 4 with the length
    /// of the head, the head, and the body to the end. The head is the same as in a fleet's Redis: a byte with the version
    /// of the form, 1; two with the status; six times 8 for the times in microseconds since 1970 (request, response,
    /// storage, `expires`, `freshUntil`) and the length of the body; then the target, the header fields, the fields that
    /// `Vary` names, and the redirects, each behind 4 bytes with its length. Later releases read it.
    public var packed: [UInt8] {
        var writer = ByteWriter()
        writer.append(counted: PackedResponse.pack(self))
        let number = withUnsafeBytes(of: generation.littleEndian) { Array($0) }
        return key.digest.bytes + number + writer.bytes + body
    }

    /// Reads what ``packed`` has written; `nil` if the bytes are of an unknown version, or damaged.
    public init?(packed bytes: [UInt8]) {
        guard let digest = BLAKE2bDigest(bytes: bytes.prefix(32)) else { return nil }
        var reader = ByteReader(Array(bytes.dropFirst(32)))
        guard let generation = reader.number(Int64.self), let head = reader.run(),
            let (response, length) = PackedResponse.unpack(
                Array(head), key: SourceKey(digest: digest), generation: generation),
            length == reader.remaining.count
        else { return nil }
        self = response
        body = Array(reader.remaining)
    }
}

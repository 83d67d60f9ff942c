package import Pipeline

/// What pipelines made of stored responses. Each belongs to one row and goes with it.
extension HTTPCache {
    /// The longest result that is kept, in bytes: SQLite holds it in one piece.
    static let longestVariant = 4 << 20

    /// How many results a response has at most; the oldest go first. A client can ask for any number of sizes.
    static let mostVariants = 64

    /// What was made of a response under a key; `nil` if there is none, or it is damaged.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    package func variant(_ key: VariantKey, of generation: Int64, priority: LoadPriority) async throws -> EncodedImage?
    {
        var image = try await threads.run(priority: priority) { [database] _ in
            database.read { try $0.variant(key.digest, of: generation) } ?? nil
        }
        image?.isKept = true
        return image
    }

    /// Keeps what was made of a response, as long as its row is there.
    package func keep(_ image: EncodedImage, as key: VariantKey, of generation: Int64) async {
        guard image.bytes.count <= min(Self.longestVariant, byteLimit / 4) else { return }
        let isBounded = await change { [bounds] transaction in
            try transaction.insert(image, as: key.digest, of: generation, most: Self.mostVariants)
            return try transaction.evict(bounds)
        }
        if isBounded == false { await evict() }
    }
}

extension SQLiteDatabase {
    fileprivate func variant(_ digest: Digest, of generation: Int64) throws -> EncodedImage? {
        try first(
            "SELECT \(EncodedImage.columns) FROM variants WHERE generation = ?1 AND variant = ?2",
            .integer(generation), .blob(digest.bytes)
        ) { EncodedImage($0) } ?? nil
    }
}

extension ResponseTransaction {
    fileprivate func insert(_ image: EncodedImage, as digest: Digest, of generation: Int64, most: Int) throws {
        let (size, native) = (image.size ?? 0, image.nativeSize ?? image.size ?? 0)
        try database.run(
            "DELETE FROM variants WHERE generation = ?1 AND variant = ?2", .integer(generation), .blob(digest.bytes))
        try database.run(
            """
            INSERT INTO variants (generation, variant, type, width, height, native_width, native_height, checksum, bytes)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE EXISTS (SELECT 1 FROM responses WHERE generation = ?1)
            """, .integer(generation), .blob(digest.bytes), .text(image.declaredType ?? ""),
            .integer(Int64(size.width)), .integer(Int64(size.height)), .integer(Int64(native.width)),
            .integer(Int64(native.height)), .integer(BodyChecksum(of: image.bytes).value), .blob(image.bytes))
        try database.run(
            """
            DELETE FROM variants WHERE generation = ?1 AND rowid NOT IN
                (SELECT rowid FROM variants WHERE generation = ?1 ORDER BY rowid DESC LIMIT ?2)
            """, .integer(generation), .integer(Int64(most)))
    }
}

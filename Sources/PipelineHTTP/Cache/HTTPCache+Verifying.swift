extension HTTPCache {
    /// Checks the whole folder: modes, free space, the database's pages, each row, each body and each result of an
    /// `Encode`. Changes nothing. It reads every byte, so it takes as long as reading the folder does. The cache can be
    /// used meanwhile.
    ///
    /// It need not be called: lookups check the responses that they find, and a damaged database is replaced when it is
    /// opened.
    /// - Returns: the faults; a folder that does not exist yet has none.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    public func verify() async throws -> CacheReport { try await store.verify() }

    /// Checks the folder as ``verify()`` does and repairs what it can: removes damaged entries, damaged results and
    /// orphans, removes other users' access rights and restores the owner's, corrects the totals, and replaces a
    /// database that is damaged or from a newer version by an empty one. Removed entries are fetched or made again when
    /// they are needed.
    /// - Returns: the faults, and for each whether it is repaired.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    public func repair() async throws -> CacheReport { try await store.repair() }
}

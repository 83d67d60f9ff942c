import FoundationEssentials
import Pipeline

extension HTTPCache {
    /// Checks the whole folder: modes, free space, the database's pages, each row, each body and each result of an
    /// `Encode`. Changes nothing. It reads every byte, so it takes as long as reading the folder does. The cache can be
    /// used meanwhile.
    ///
    /// It need not be called: lookups check the responses that they find, and a damaged database is replaced when it is
    /// opened.
    /// - Returns: the faults; a folder that does not exist yet has none.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    public func verify() async throws -> CacheReport {
        try await sqlite?.inspect() ?? CacheReport()
    }

    /// Checks the folder as ``verify()`` does and repairs what it can: removes damaged entries, damaged results and
    /// orphans, removes other users' access rights and restores the owner's, corrects the totals, and replaces a
    /// database that is damaged or from a newer version by an empty one. Removed entries are fetched or made again when
    /// they are needed.
    /// - Returns: the faults, and for each whether it is repaired.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    public func repair() async throws -> CacheReport {
        var report = try await verify()
        guard let sqlite, !report.isSound else { return report }
        // Without a database only modes can be repaired, and none is made for that.
        let hasDatabase = sqlite.database.folder.hasDatabase
        try await sqlite.repairFiles(report.findings)
        if report.findings.contains(where: { $0.kind == .unusable }) {
            // The inspection stopped at these.
            let more = try await sqlite.inspect()
            report.add(more)
            try await sqlite.repairFiles(more.findings)
        }
        let before = report.findings
        let (broken, variants) = (before.compactMap(\.generation), before.compactMap(\.variant))
        if !broken.isEmpty || !variants.isEmpty {
            await sqlite.change { transaction in
                for generation in broken { try transaction.remove(generation) }
                for variant in variants { try transaction.remove(variant: variant) }
            }
        }
        if before.contains(where: { $0.kind == .wrongTotals || $0.kind == .orphanBody }) {
            await sqlite.change { try $0.recount() }
        }
        if hasDatabase { await store.tidy() }
        if before.contains(where: { $0.kind == .noRoom }) { try await makeRoom(in: sqlite) }
        let left = try await sqlite.inspect().findings
        for index in report.findings.indices {
            let finding = report.findings[index]
            report.findings[index].isRepaired = !left.contains {
                $0.kind == finding.kind && $0.subject == finding.subject && $0.generation == finding.generation
                    && $0.variant == finding.variant
            }
        }
        return report
    }

    /// Removes expired responses. If that is not enough, or there is no room even for that, removes everything.
    private func makeRoom(in sqlite: SQLiteResponseStore) async throws {
        await cleanUp()
        guard try await sqlite.inspect().findings.contains(where: { $0.kind == .noRoom }) else { return }
        try await sqlite.fileThreads.run { [database = sqlite.database] _ in
            database.close()
            database.folder.removeDatabase()
        }
        await sqlite.tidy()
    }
}

extension SQLiteResponseStore {
    fileprivate func repairFiles(_ findings: [CacheReport.Finding]) async throws {
        try await fileThreads.run { [database] _ in
            CacheRepair(folder: database.folder).repairFiles(findings) { database.close() }
        }
    }

    fileprivate func inspect() async throws -> CacheReport {
        let (folder, now) = (database.folder, clock.now)
        return try await fileThreads.run(priority: .low) { cancellation in
            var inspection = CacheInspection(folder: folder, now: now, cancellation: cancellation)
            return try inspection.run()
        }
    }
}

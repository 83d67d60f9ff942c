import Essentials
import Pipeline

extension SQLiteResponseStore {
    func verify() async throws -> CacheReport {
        let (folder, now) = (database.folder, clock.now)
        return try await fileThreads.run(priority: .low) { cancellation in
            var inspection = CacheInspection(folder: folder, now: now, cancellation: cancellation)
            return try inspection.run()
        }
    }

    func repair() async throws -> CacheReport {
        var report = try await verify()
        guard !report.isSound else { return report }
        // Without a database only modes can be repaired, and none is made for that.
        let hasDatabase = database.folder.hasDatabase
        try await repairFiles(report.findings)
        if report.findings.contains(where: { $0.kind == .unusable }) {
            // The inspection stopped at these.
            let more = try await verify()
            report.add(more)
            try await repairFiles(more.findings)
        }
        let before = report.findings
        let (broken, variants) = (before.compactMap(\.generation), before.compactMap(\.variant))
        if !broken.isEmpty || !variants.isEmpty {
            await change { transaction in
                for generation in broken { try transaction.remove(generation) }
                for variant in variants { try transaction.remove(variant: variant) }
            }
        }
        if before.contains(where: { $0.kind == .wrongTotals || $0.kind == .orphanBody }) {
            await change { try $0.recount() }
        }
        if hasDatabase { await tidy() }
        if before.contains(where: { $0.kind == .noRoom }) { try await makeRoom() }
        let left = try await verify().findings
        for index in report.findings.indices {
            let finding = report.findings[index]
            report.findings[index].isRepaired = !left.contains {
                $0.kind == finding.kind && $0.subject == finding.subject && $0.generation == finding.generation
                    && $0.variant == finding.variant
            }
        }
        return report
    }

    private func repairFiles(_ findings: [CacheReport.Finding]) async throws {
        try await fileThreads.run { [database] _ in
            CacheRepair(folder: database.folder).repairFiles(findings) { database.close() }
        }
    }

    /// Removes expired responses. If that is not enough, or there is no room even for that, removes everything.
    private func makeRoom() async throws {
        let now = clock.now
        _ = await removeAll { $0.freshUntil.map { $0 <= now } ?? false }
        await tidy()
        guard try await verify().findings.contains(where: { $0.kind == .noRoom }) else { return }
        try await fileThreads.run { [database] _ in
            database.close()
            database.folder.removeDatabase()
        }
        await tidy()
    }
}

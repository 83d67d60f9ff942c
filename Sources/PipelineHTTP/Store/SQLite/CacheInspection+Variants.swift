import Pipeline

extension CacheInspection {
    /// Checks the results that were made of responses. A database of the first version has none.
    mutating func lookAtVariants(_ database: SQLiteDatabase, version: Int64) throws {
        guard version >= 2 else { return }
        var last = Int64.min
        let end = try database.latestVariant()
        while last < end {
            try cancellation.check()
            guard let variant = try database.variant(after: last) else { return }
            last = variant.number
            report.variants += 1
            report.bytes += variant.image?.bytes.count ?? 0
            if let fault = fault(of: variant) { report.findings.append(fault) }
        }
    }

    private func fault(of variant: VariantRow) -> CacheReport.Finding? {
        guard let target = variant.target else {
            return CacheReport.Finding(
                kind: .orphanVariant, subject: folder.databasePath,
                detail: "The response that a result was made of is gone. A repair removes the result.",
                variant: variant.number)
        }
        guard variant.image == nil else { return nil }
        return CacheReport.Finding(
            kind: .damagedVariant, subject: redactedURL(target),
            detail: "A result that was made of it is damaged. A repair removes the result.",
            variant: variant.number)
    }
}

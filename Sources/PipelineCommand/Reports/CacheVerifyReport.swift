import Stages

/// What `pipectl cache verify --json` prints.
struct CacheVerifyReport: Encodable {
    struct Finding: Encodable {
        let kind: String
        let subject: String
        let detail: String
        let repaired: Bool
    }

    let folder: String
    let entries: Int
    let variants: Int
    let bytes: Int
    let sound: Bool
    let findings: [Finding]

    init(_ report: CacheReport, folder: String) {
        self.folder = folder
        entries = report.entries
        variants = report.variants
        bytes = report.bytes
        sound = report.isSound
        findings = report.findings.map {
            Finding(kind: $0.kind.rawValue, subject: $0.subject, detail: $0.detail, repaired: $0.isRepaired)
        }
    }
}

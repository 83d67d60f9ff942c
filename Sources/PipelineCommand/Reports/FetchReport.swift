import FoundationEssentials
import Pipeline
import Stages

extension Report {
    /// A stored entry and its freshness.
    private struct Entry: Encodable {
        let target: String
        let status: Int
        let bytes: Int
        let headers: [[String]]
        let age: Int
        let lifetime: Int?
        let basis: String
        let remaining: Int?
        let verdict: String

        init(_ stored: StoredResponse, _ freshness: Freshness) {
            target = redactedURL(stored.target)
            status = stored.status
            bytes = stored.body.count
            headers = RedactedFields(stored.headers).pairs
            age = freshness.ageField
            lifetime = freshness.lifetime.map { Int($0.components.seconds) }
            basis = freshness.basis.rawValue
            remaining = freshness.remaining.map { Int($0.components.seconds) }
            verdict = freshness.verdict.rawValue
        }
    }

    /// One request. Redirects that were followed add more.
    private struct Step: Encodable {
        let url: String
        let found: Entry?
        let notes: [String]
        let sent: [[String]]?
        let status: Int?
        let received: [[String]]?
        let stored: Entry?

        init(_ step: CachingStep) {
            url = redactedURL(step.url.absoluteString)
            found =
                switch step.lookup {
                case .fresh(let stored, let freshness), .stale(let stored, let freshness): Entry(stored, freshness)
                default: nil
                }
            notes = step.notes
            sent = step.sent.map { RedactedFields($0).pairs }
            status = step.status
            received = step.received.map { RedactedFields($0).pairs }
            stored = step.stored.map { Entry($0.response, $0.freshness) }
        }
    }

    /// Reports one fetch, redacted.
    init(fetch url: String, _ response: CachingResponse? = nil, error: LoadError? = nil) {
        self.init(
            [
                "url": redactedURL(url), "status": response?.status, "statusText": response?.reason,
                "headers": response.map { RedactedFields($0.headers).pairs }, "bytes": response?.body.count,
                "fromCache": response?.use.rawValue, "steps": response?.steps.map(Step.init) ?? [],
            ], error: error)
    }
}

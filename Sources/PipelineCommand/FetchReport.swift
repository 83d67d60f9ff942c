import FoundationEssentials
import Pipeline
import Stages

/// One fetch as `--json` prints it: an object on a line, redacted.
struct FetchReport: Encodable {
    /// A stored entry and its freshness.
    struct Entry: Encodable {
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

    /// One request: more than one where redirects were followed.
    struct Step: Encodable {
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

    struct Failure: Encodable {
        let code: String
        let message: String
    }

    let url: String
    var status: Int?
    var statusText: String?
    var headers: [[String]]?
    var bytes: Int?
    var fromCache: String?
    var steps: [Step] = []
    var error: Failure?

    init(_ url: URL, _ response: CachingResponse) {
        self.url = redactedURL(url.absoluteString)
        status = response.status
        statusText = response.reason
        headers = RedactedFields(response.headers).pairs
        bytes = response.body.count
        fromCache = response.use.rawValue
        steps = response.steps.map(Step.init)
    }

    init(_ input: String, _ error: LoadError) {
        url = redactedURL(input)
        self.error = Failure(code: error.code.rawValue, message: error.description)
    }

    private enum Field: String, CodingKey { case url, status, statusText, headers, bytes, fromCache, steps, error }

    /// Writes each field, `null` where there is nothing: a reader need not ask which are there.
    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(url, forKey: .url)
        try fields.encode(status, forKey: .status)
        try fields.encode(statusText, forKey: .statusText)
        try fields.encode(headers, forKey: .headers)
        try fields.encode(bytes, forKey: .bytes)
        try fields.encode(fromCache, forKey: .fromCache)
        try fields.encode(steps, forKey: .steps)
        try fields.encode(error, forKey: .error)
    }
}

package import Essentials

/// Decides whether a URL may be asked.
package typealias URLRule = @Sendable (URL) -> Bool

extension Chain {
    /// Which URLs the clients of the list may ask; `nil` if any. Stored redirects lead no further, whoever stored them.
    var urlRule: URLRule? {
        var rules: [URLRule] = []
        for rule in clientRules {
            guard let rule else { return nil }
            rules.append(rule)
        }
        guard rules.count > 1 else { return rules.first }
        return { [rules] url in rules.contains { $0(url) } }
    }

    /// The rule of each stage that sends requests.
    private var clientRules: [URLRule?] {
        slots.flatMap { slot -> [URLRule?] in
            if let client = slot.stage as? any RequestingStage { return [client.urlRule] }
            return (slot.stage as? any CompositeStage)?.body.clientRules ?? []
        }
    }
}

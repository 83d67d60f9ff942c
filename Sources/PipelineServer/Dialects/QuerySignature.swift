import HTTPTypes

extension DialectPath {
    /// Finds the signature and the expiry in the query `?expires=SECONDS&signature=…`. Signed is the path with
    /// `?expires=SECONDS`, or the path alone.
    /// - Throws: 400 for another part of the query, which isn't signed; 403 for a malformed expiry.
    func signedByQuery() throws(Problem) -> SignedText {
        var values: [Substring: Substring] = [:]
        let query = query ?? ""
        for pair in query.split(separator: "&", omittingEmptySubsequences: false) where !query.isEmpty {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let isKnown = parts.count == 2 && ["expires", "signature"].contains(parts[0]) && values[parts[0]] == nil
            guard isKnown || !isSigned else {
                throw Problem(.badRequest, "The query is expires=SECONDS&signature=…, and nothing else.")
            }
            if isKnown { values[parts[0]] = parts[1] }
        }
        guard let expires = values["expires"] else { return SignedText(text[...], signature: values["signature"]) }
        guard let seconds = expires.canonicalNumber else {
            throw Problem(.forbidden, "The expiry is not a number of seconds since 1970.")
        }
        return SignedText("\(text)?expires=\(seconds)", signature: values["signature"], expires: seconds)
    }

    /// Returns a path with the query that signs it; without keys, only with its expiry.
    static func signed(_ path: String, with keys: SigningKeys?, expires: Int?) -> String {
        let signed = expires.map { "\(path)?expires=\($0)" } ?? path
        guard let keys else { return signed }
        return "\(signed)\(expires == nil ? "?" : "&")signature=\(keys.signature(of: signed))"
    }
}

/// A URL as errors, traces and logs may show it: user info and the values of its query are replaced by `…`, the
/// fragment is dropped. These texts end up in log servers, and a signed URL's query is a credential.
package func redactedURL(_ text: String) -> String {
    let bare = text.prefix { $0 != "#" }
    let question = bare.firstIndex(of: "?") ?? bare.endIndex
    var head = String(bare[..<question])
    if let authority = head.firstRange(of: "://")?.upperBound {
        let end = head[authority...].firstIndex(of: "/") ?? head.endIndex
        if let at = head[authority..<end].lastIndex(of: "@") {
            head.replaceSubrange(authority..<at, with: "…")
        } else if !hasProperPort(head[authority..<end]) {
            // A password with "/", "?" or "#" in it ends the authority early; what follows would be its rest.
            return printable(head[..<authority]) + "…"
        }
    }
    guard question < bare.endIndex else { return printable(head) }
    let query = bare[bare.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false).map {
        item in
        // An item without a name may itself be the secret.
        item.firstIndex(of: "=").map { "\(item[..<$0])=…" } ?? "…"
    }
    return printable(head + "?" + query.joined(separator: "&"))
}

/// Whether what follows the host is a port, or nothing (RFC 3986 section 3.2.3).
private func hasProperPort(_ authority: Substring) -> Bool {
    let afterAddress =
        authority.first == "[" ? authority.firstIndex(of: "]") ?? authority.startIndex : authority.startIndex
    guard let colon = authority[afterAddress...].firstIndex(of: ":") else { return true }
    return authority[authority.index(after: colon)...].allSatisfy { $0.isASCII && $0.isNumber }
}

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

/// Returns a text with its control characters percent-encoded, so that it can't begin a new line in a log nor colour a
/// terminal. Bytes of a path that are not UTF-8 are encoded too.
package func printable(_ text: some StringProtocol) -> String {
    if !text.unicodeScalars.contains(where: { isControl($0) || isPathEscape($0) }) { return String(text) }
    return text.unicodeScalars.map { scalar in
        if isPathEscape(scalar) { return "%" + String(scalar.value & 0xFF, radix: 16, uppercase: true) }
        guard isControl(scalar) else { return String(scalar) }
        return String(scalar).utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }.joined()
}

/// Whether it is in Unicode's category of control characters (Cc), which never changes. Looking the category up takes
/// far longer.
private func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || 0x7f...0x9f ~= scalar.value }

/// Whether it stands for a byte of a path that is not UTF-8.
private func isPathEscape(_ scalar: Unicode.Scalar) -> Bool { 0x10FF80...0x10FFFF ~= scalar.value }

/// Whether what follows the host is a port, or nothing (RFC 3986 section 3.2.3).
private func hasProperPort(_ authority: Substring) -> Bool {
    let afterAddress =
        authority.first == "[" ? authority.firstIndex(of: "]") ?? authority.startIndex : authority.startIndex
    guard let colon = authority[afterAddress...].firstIndex(of: ":") else { return true }
    return authority[authority.index(after: colon)...].allSatisfy { $0.isASCII && $0.isNumber }
}

public import Essentials

/// Where the bytes of an image come from.
public enum ImageSource: Sendable, Hashable {
    /// An http or https URL; or an `s3:` URL, for a client that knows it.
    case url(URL)
    /// A file's path on this machine. A byte that is not UTF-8 is written as U+10FF00 plus the byte.
    case file(String)
    /// A file's bytes, in memory.
    case bytes([UInt8])
    /// A `data:` URL (RFC 2397), whole.
    case dataURL(String)

    /// Makes a source of a URL: a file for `file:`, a `data:` URL, or else a URL to fetch.
    ///
    /// A `file:` URL that names another machine is a URL that no load accepts.
    public init(_ url: URL) {
        // Reading the scheme costs more than everything else that a memory hit does, and most URLs begin with "h".
        guard url.absoluteString.utf8.first.map({ $0 | 0x20 }) != UInt8(ascii: "h") else {
            self = .url(url)
            return
        }
        switch url.scheme?.lowercased() {
        // Another machine's file is not this machine's file of the same name. `check(_:)` refuses it.
        case "file": self = Self.isOfThisMachine(url) ? .file(Self.path(of: url)) : .url(url)
        case "data": self = .dataURL(url.absoluteString)
        default: self = .url(url)
        }
    }

    /// Reads what a user types: an http or https URL, a `file:` or `data:` URL, or a path.
    ///
    /// A relative path whose first component could be a host, such as `example.com/cat.jpg`, is refused, and so is a text
    /// that begins with `//`: most likely the scheme is missing. Write `./example.com/cat.jpg` for such a file.
    /// - Throws: ``LoadError/Code/invalidURL`` if the text is empty, holds a control character, names no host or no path,
    ///   or looks like a URL without its scheme;
    ///   ``LoadError/Code/unsupportedScheme`` if the scheme can't be loaded.
    public init(parsing text: String) throws(LoadError) {
        guard !text.isEmpty else {
            throw LoadError(.invalidURL, subject: "(empty)", "The URL is empty; give an http or https URL or a path.")
        }
        let start = text.prefix(5).lowercased()
        if start == "data:" {
            self = .dataURL(text)
            return
        }
        // Without a scheme before "://" it is a path, whatever else it holds.
        let scheme = text.firstRange(of: "://").map { text[..<$0.lowerBound] }
        guard start == "file:" || scheme?.allSatisfy(\.isSchemeCharacter) == true else {
            try Self.check(path: text)
            try Self.checkNamesNoHost(text)
            self = .file(text)
            return
        }
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7f }),
            let url = URL(escaping: text.utf8, encodesStrayPercent: start == "file:")
        else {
            throw LoadError(
                .invalidURL, subject: redactedURL(text),
                "This is not a URL; percent-encode spaces, control characters, and each % that begins no escape.")
        }
        self.init(url)
        switch self {
        case .url: try Self.check(url)
        case .file(let path): try Self.check(path: path)
        case .bytes, .dataURL: break
        }
    }

    private static func isOfThisMachine(_ url: URL) -> Bool {
        ["", "localhost"].contains(url.host(percentEncoded: false)?.lowercased() ?? "")
    }

    /// The path of a `file:` URL, whose bytes need not be UTF-8.
    private static func path(of url: URL) -> String {
        String(path: percentDecoded(url.path(percentEncoded: true)))
    }

    /// Refuses a URL that can't be fetched over the network.
    package static func check(_ url: URL) throws(LoadError) {
        let subject = redactedURL(url.absoluteString)
        let scheme = url.scheme?.lowercased() ?? ""
        guard scheme != "file" || isOfThisMachine(url) else {
            throw LoadError(
                .invalidURL, subject: subject,
                "This file is on another machine; only this machine's can be read. Write file:///path.")
        }
        // A client that doesn't know s3 refuses it.
        guard scheme == "http" || scheme == "https" || scheme == "s3" else {
            throw LoadError(
                .unsupportedScheme, subject: subject,
                "The scheme \"\(scheme)\" can't be loaded; use http, https, file or data.")
        }
        guard let host = url.host(percentEncoded: false), !host.isEmpty else {
            throw LoadError(.invalidURL, subject: subject, "The URL names no host.")
        }
        // Programs differ in where such a host ends, and so in which server they ask.
        guard host.unicodeScalars.allSatisfy({ $0.value > 0x20 && !"\u{7F}/\\?#@%<>^|".unicodeScalars.contains($0) })
        else {
            throw LoadError(.invalidURL, subject: subject, "The host holds a character that no host's name has.")
        }
    }

    private static func check(path: String) throws(LoadError) {
        guard !path.isEmpty else {
            throw LoadError(.invalidURL, subject: "file:", "The URL names no path; write file:///path.")
        }
        guard !path.utf8.contains(0) else {
            throw LoadError(.invalidURL, subject: printable(path), "A file's path can't hold a zero byte.")
        }
    }

    /// Refuses a path that is more likely a URL whose scheme is missing.
    private static func checkNamesNoHost(_ path: String) throws(LoadError) {
        let rest = path.hasPrefix("//") ? path.dropFirst(2) : path[...]
        guard let slash = rest.firstIndex(of: "/"), slash > rest.startIndex else { return }
        guard rest.startIndex > path.startIndex || rest[..<slash].looksLikeHost else { return }
        throw LoadError(
            .invalidURL, subject: redactedURL(path),
            "This looks like a URL without its scheme. Begin a URL with https://, and a file's path with ./ or a single /."
        )
    }

    /// Whether the bytes come over the network.
    package var isRemote: Bool {
        if case .url = self { true } else { false }
    }

    /// The source as errors and logs may show it: without credentials and query values.
    public var redacted: String {
        switch self {
        case .url(let url): redactedURL(url.absoluteString)
        case .file(let path): printable(path)
        case .bytes(let bytes): "(\(bytes.count) bytes in memory)"
        case .dataURL(let text): "\(printable(text.prefix(24)))… (\(text.utf8.count) characters)"
        }
    }
}

extension Character {
    /// Whether a URL's scheme may hold it (RFC 3986 section 3.1).
    fileprivate var isSchemeCharacter: Bool { isASCII && (isLetter || isNumber || "+-.".contains(self)) }
}

extension Substring {
    /// Whether a browser's address field would take it for a host: a name with a top-level domain, such as `example.com`,
    /// or with a port, such as `localhost:8080`.
    fileprivate var looksLikeHost: Bool {
        let parts = split(separator: ":", omittingEmptySubsequences: false)
        guard let host = parts.first, parts.count <= 2 else { return false }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { label in
            !label.isEmpty && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        }
        if parts.count == 2 { return isName && !parts[1].isEmpty && parts[1].allSatisfy { $0.isASCII && $0.isNumber } }
        guard isName, labels.count > 1, let domain = labels.last else { return false }
        return domain.count > 1 && domain.allSatisfy(\.isLetter)
    }
}

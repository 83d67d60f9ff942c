public import Essentials

/// How long the sources of one origin, or below one of its paths, are kept. The first rule that fits a URL counts.
public struct SourceLifetime: Sendable {
    /// The beginning of the URLs, with a scheme, a host and the beginning of a path.
    public let prefix: URL
    /// How long a response without a lifetime of its own is fresh; `nil` for the server's
    /// ``ServerConfiguration/maxAge``.
    public let maxAge: Duration?
    /// How long a source that its origin doesn't give isn't asked for again; `nil` for the server's
    /// ``ServerConfiguration/errorMaxAge``.
    public let errorMaxAge: Duration?
    /// Whether ``maxAge`` counts whatever the origin says; by default only where it says nothing.
    public let isFixed: Bool

    /// Makes a rule.
    public init(_ prefix: URL, maxAge: Duration?, errorMaxAge: Duration? = nil, isFixed: Bool = false) {
        (self.prefix, self.maxAge, self.errorMaxAge, self.isFixed) = (prefix, maxAge, errorMaxAge, isFixed)
    }

    /// Reads `URL=SECONDS`, with `!` after the seconds for a lifetime that counts whatever the origin says, and
    /// `,SECONDS` for errors, such as `https://example.com/news/=60!,10`.
    /// - Throws: ``ServerConfigurationError`` for anything else.
    public init(parsing text: String) throws(ServerConfigurationError) {
        let mark = text.lastIndex(of: "=") ?? text.startIndex
        let words = text[mark...].dropFirst().split(separator: ",", omittingEmptySubsequences: false)
        guard let url = URL(string: String(text[..<mark])), SourcePolicy.isOrigin(url), 1...2 ~= words.count,
            let maxAge = Self.seconds(words[0].hasSuffix("!") ? words[0].dropLast() : words[0]),
            let errorMaxAge = words.count == 2 ? Self.seconds(words[1]) : .some(nil)
        else {
            throw ServerConfigurationError("\(text) is not URL=SECONDS or URL=SECONDS,SECONDS.")
        }
        self.init(url, maxAge: maxAge, errorMaxAge: errorMaxAge, isFixed: words[0].hasSuffix("!"))
    }

    /// The seconds of a text, at most ten years, or none for an empty one; `nil` for anything else.
    private static func seconds(_ text: Substring) -> Duration?? {
        if text.isEmpty { return .some(nil) }
        guard let seconds = text.plainNumber, seconds <= 315_360_000 else { return nil }
        return .seconds(seconds)
    }
}

extension [SourceLifetime] {
    /// The rule for a URL.
    func rule(for url: URL) -> SourceLifetime? { first { SourcePolicy.does(url, beginWith: $0.prefix) } }
}

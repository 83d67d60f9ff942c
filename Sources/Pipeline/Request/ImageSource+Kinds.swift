extension ImageSource {
    /// The kinds of sources that a program accepts.
    ///
    /// A program that takes sources from others, such as a server, allows ``remote`` alone. Otherwise a client that sends
    /// `file:///etc/passwd` has the program read its own disk.
    public struct Kinds: OptionSet, Sendable, Hashable {
        /// One bit for each kind.
        public let rawValue: UInt8

        /// Makes a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// http and https URLs.
        public static let remote = Kinds(rawValue: 1)
        /// Files on this machine.
        public static let files = Kinds(rawValue: 2)
        /// Bytes in memory and `data:` URLs, which are in the request itself.
        public static let inline = Kinds(rawValue: 4)
        /// Every kind.
        public static let all: Kinds = [.remote, .files, .inline]
    }

    /// The source's kind.
    public var kind: Kinds {
        switch self {
        case .url: .remote
        case .file: .files
        case .bytes, .dataURL: .inline
        }
    }

    /// The target under which all states of a file are removed; `nil` for other sources.
    package var fileTarget: String? {
        if case .file(let path) = self { "file:\(path)" } else { nil }
    }

    /// Refuses a source of a kind that is not allowed.
    /// - Throws: ``LoadError/Code/refused``.
    package func check(isAmong kinds: Kinds) throws(LoadError) {
        guard kinds != .all, !kinds.contains(kind) else { return }
        let what =
            switch self {
            case .url: "http and https URLs"
            case .file: "files of this machine"
            case .bytes, .dataURL: "data: URLs and bytes"
            }
        throw LoadError(.refused, subject: redacted, "This program loads no \(what); it allows \(kinds).")
    }
}

extension ImageSource.Kinds: CustomStringConvertible {
    /// The kinds' names, such as `remote, inline`.
    public var description: String {
        let names = [(Self.remote, "remote"), (.files, "files"), (.inline, "inline")]
        let named = names.filter { contains($0.0) }.map(\.1)
        return named.isEmpty ? "nothing" : named.joined(separator: ", ")
    }
}

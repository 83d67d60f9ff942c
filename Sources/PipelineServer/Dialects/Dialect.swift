import HTTPTypes
public import Pipeline

/// A kind of paths: `/NAME/…` with a place for the signature, the options and the source.
///
/// ``IIIFDialect``, ``ImgproxyDialect``, ``ThumborDialect``, ``ThumbDialect`` and ``InfoDialect`` are dialects. One of
/// your own reads the paths that another server has, into the same values:
///
/// ```swift
/// struct SquareDialect: Dialect {
///     let name = "square"
///
///     func signedText(of path: DialectPath) -> SignedText {
///         let parts = path.rest.split(separator: "/", maxSplits: 1)
///         return SignedText(parts.last ?? "", signature: parts.first)
///     }
///
///     func request(_ path: DialectPath) throws(Problem) -> DialectRequest {
///         let parts = path.rest.split(separator: "/")
///         guard parts.count == 3, let side = Int(parts[1]), 1...512 ~= side else {
///             throw Problem(.badRequest, "Write /square/SIGNATURE/SIDE/SOURCE, with a side of 1 to 512.")
///         }
///         return .picture(
///             PictureRequest(source: String(parts[2]), stages: [Resize(width: side, height: side, fit: .cover)]))
///     }
/// }
/// ```
public protocol Dialect: Sendable {
    /// The first component of its paths. Metrics name it too.
    var name: String { get }
    /// What it reads besides paths; by default nothing. Each different value makes another plan, and another response for
    /// caches to keep.
    var reads: RequestParts { get }

    /// Finds what of a path is signed, and until when it is valid. It is called for every request.
    /// - Throws: 403 where the signature is missing or malformed; 400 for a part that isn't signed and changes nothing,
    ///   which would make one picture many for the caches in front.
    func signedText(of path: DialectPath) throws(Problem) -> SignedText

    /// Reads a path whose signature is valid. It is called once for many requests with the same path.
    /// - Throws: 400 with the option that is wrong; 404 for a path of another shape.
    func request(_ path: DialectPath) throws(Problem) -> DialectRequest
}

extension Dialect {
    /// Nothing.
    public var reads: RequestParts { [] }
}

/// What of a request a dialect reads besides its path.
public struct RequestParts: OptionSet, Sendable {
    /// A bit for each part.
    public let rawValue: Int

    /// Makes a set of its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The server's address, for addresses in responses.
    public static let address = RequestParts(rawValue: 1)
    /// What the client says of its screen.
    public static let clientHints = RequestParts(rawValue: 2)
    /// Whether the client asks for JSON-LD.
    public static let linkedData = RequestParts(rawValue: 4)
}

/// A request's path as a dialect gets it.
public struct DialectPath: Sendable {
    /// The whole path, without the query.
    public let text: String
    /// What follows `/NAME/`.
    public let rest: Substring
    /// The query without its question mark; `nil` without one. Where paths are read it is `nil`: what isn't signed
    /// mustn't change the picture.
    public let query: String?
    /// Whether this server asks for signatures.
    public let isSigned: Bool
    /// The server's address as clients see it, without a slash at its end; empty unless the dialect reads it.
    public let address: String
    /// What the client says of its screen; `nil` unless the dialect reads it.
    public let hints: ClientHints?
    /// Whether the client asks for JSON-LD; `false` unless the dialect reads it.
    public let wantsLinkedData: Bool

    /// Makes a path, for tests of a dialect.
    public init(
        _ text: String, query: String? = nil, isSigned: Bool = false, address: String = "", hints: ClientHints? = nil,
        wantsLinkedData: Bool = false
    ) {
        self.text = text
        let slash = text.utf8.dropFirst().firstIndex(of: UInt8(ascii: "/"))
        rest = slash.map { text[text.utf8.index(after: $0)...] } ?? ""
        self.query = query
        self.isSigned = isSigned
        self.address = address
        self.hints = hints
        self.wantsLinkedData = wantsLinkedData
    }
}

extension DialectPath {
    /// - Throws: 400 for a path with a query, which isn't signed and would make one picture many.
    func refuseQuery() throws(Problem) {
        guard query == nil else { throw Problem(.badRequest, "A signed path has no query.") }
    }
}

/// What of a path is signed.
public struct SignedText: Sendable {
    let text: Substring
    let signature: Substring?
    let isSalted: Bool
    let expires: Int?
    let algorithm: SignatureAlgorithm

    /// - Parameters:
    ///   - text: What is signed.
    ///   - signature: What the path has as its signature; `nil` for none.
    ///   - isSalted: Whether the key's salt comes before the text.
    ///   - expires: When the path stops being valid, in seconds since 1970; `nil` for never.
    ///   - algorithm: The kind of signature; by default HMAC-SHA256.
    public init(
        _ text: Substring, signature: Substring?, isSalted: Bool = false, expires: Int? = nil,
        algorithm: SignatureAlgorithm = .sha256
    ) {
        (self.text, self.signature, self.isSalted, self.expires) = (text, signature, isSalted, expires)
        self.algorithm = algorithm
    }
}

/// What a path asks for.
public enum DialectRequest: Sendable {
    /// A picture.
    case picture(PictureRequest)
    /// A text about a source.
    case description(SourceDescription)
    /// Another address, by a redirect with status 303.
    case redirect(to: String)
}

/// A text about a source.
public struct SourceDescription: Sendable {
    /// What the text is made of.
    enum Content: Sendable {
        /// The source's size in pixels, as it is seen upright. Only the header is read.
        case size(@Sendable (PixelSize) -> String)
        /// Facts of the header and of the decoded picture, as JSON.
        case facts
    }

    let source: String
    let type: String
    let content: Content

    /// Describes a source by its header alone.
    /// - Parameters:
    ///   - source: The source as the path names it.
    ///   - type: The text's media type.
    ///   - text: Makes the text from the source's size in pixels, as it is seen upright.
    public init(of source: String, type: String, text: @escaping @Sendable (PixelSize) -> String) {
        (self.source, self.type, content) = (source, type, .size(text))
    }

    /// Describes a source by the facts that ``InfoDialect`` lists.
    /// - Parameter source: The source as the path names it.
    public init(factsOf source: String) {
        (self.source, type, content) = (source, "application/json", .facts)
    }
}

import HTTPTypes

/// Facts of a source as JSON: `/info/SOURCE`.
///
/// ```
/// /info/photo.jpg
/// {"format":"image/jpeg","width":4000,"height":3000,"frames":1,"bytes":1843200,"hasAlpha":false,
///  "thumbhash":"1QcSHQRnh493V4dIh4eXh1h4kJUI","colors":["#8090a0","#203040"]}
/// ```
///
/// The size is the one that is seen upright. `frames` counts the pages of a TIFF too. `hasAlpha` says that the file may
/// have transparent pixels. `thumbhash` is base64, and `colors` has up to five main colours, the most frequent first.
/// Both come from the picture reduced to 100 pixels. No metadata of the file is passed on.
///
/// A signed path has the query `?expires=SECONDS&signature=…`, or only the latter, as those of ``ThumbDialect`` have.
public struct InfoDialect: Dialect {
    public let name = "info"

    /// Makes the dialect.
    public init() {}

    public func signedText(of path: DialectPath) throws(Problem) -> SignedText { try path.signedByQuery() }

    /// The path to a source's facts, with its query if it is signed.
    /// - Parameters:
    ///   - source: A URL, or a file's name in the server's folder.
    ///   - keys: The server's keys; `nil` for one that asks for no signatures.
    ///   - expires: When the path stops being valid, in seconds since 1970; `nil` for never.
    public static func path(to source: String, signedWith keys: SigningKeys?, expires: Int? = nil) -> String {
        DialectPath.signed("/info/\(source.percentEncoded)", with: keys, expires: expires)
    }

    public func request(_ path: DialectPath) throws(Problem) -> DialectRequest {
        guard let source = path.rest.percentDecoded, !source.isEmpty else {
            throw Problem(.badRequest, "The source is missing. Write /info/SOURCE.")
        }
        return .description(SourceDescription(factsOf: source))
    }
}

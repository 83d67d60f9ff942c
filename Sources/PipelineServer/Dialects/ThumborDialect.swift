import HTTPTypes
import Pipeline

/// thumbor's signed paths: `/SIGNATURE/TRIM/CROP/FIT/SIZE/ALIGNMENT/smart/filters:…/SOURCE`, each part but the
/// signature and the source optional.
///
/// ```
/// /thumbor/SIGNATURE/fit-in/400x300/filters:quality(70):fill(white)/https://example.com/photo.jpg
/// ```
///
/// A path gives the picture that thumbor 7 makes of it, or a 400 that names the part. A source without a scheme is a
/// file of the folder. Signed is everything after the slash that follows the signature, with HMAC-SHA1 in base64url, so
/// thumbor's libraries sign for this server. Without keys the signature may be anything, such as thumbor's `unsafe`.
public struct ThumborDialect: Dialect {
    public let name = "thumbor"
    private let longestSide: Int

    /// - Parameter longestSide: The longest side that a client may ask for, in pixels.
    public init(longestSide: Int = 8192) { self.longestSide = longestSide }

    public func signedText(of path: DialectPath) throws(Problem) -> SignedText {
        let signature = path.rest.prefix { $0 != "/" }
        if path.isSigned {
            try path.refuseQuery()
            guard signature != "unsafe" else {
                throw Problem(.forbidden, "This server asks for signatures. Sign the path in place of unsafe.")
            }
        }
        return SignedText(path.rest.dropFirst(signature.count + 1), signature: signature, algorithm: .sha1)
    }

    /// The path to a picture.
    /// - Parameters:
    ///   - options: The parts between the signature and the source, such as `fit-in/400x300`; empty for none.
    ///   - source: A URL, or a file's name in the server's folder.
    ///   - keys: The server's keys; `nil` for one that asks for no signatures.
    public static func path(_ options: String, to source: String, signedWith keys: SigningKeys?) -> String {
        let signed = (options.isEmpty ? "" : options + "/") + source.percentEncoded
        return "/thumbor/\(keys?.signature(of: signed, algorithm: .sha1) ?? "unsafe")/\(signed)"
    }

    public func request(_ path: DialectPath) throws(Problem) -> DialectRequest {
        .picture(try picture(path.rest.drop { $0 != "/" }.dropFirst()))
    }

    /// Reads a path after its signature.
    /// - Throws: 400 with the part that is wrong.
    func picture(_ path: Substring) throws(Problem) -> PictureRequest {
        var parts = ThumborPath(path)
        let options = try ThumborOptions(&parts, longestSide: longestSide)
        return options.request(for: try parts.source())
    }
}

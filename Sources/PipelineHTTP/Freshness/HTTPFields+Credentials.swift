import Essentials
public import HTTPTypes
import Pipeline

/// Credentials for an origin. As headers of a request they stay with its origin: a redirect carries them to no other
/// scheme, host or port. Caches serve the responses only to requests with the same credentials.
///
/// ```swift
/// let loader = try ImageLoader(defaults: LoadOptions(headers: .bearer(token)))
/// ```
extension HTTPFields {
    /// Makes the field for a name and a password (RFC 7617). Over plain http anyone on the network path can read them.
    /// - Throws: `LoadError` with the code `invalidHeader` if the name has a colon, or either a control character.
    public static func basic(user: String, password: String) throws -> HTTPFields {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw invalid("A name in basic credentials can't have a colon (RFC 7617 section 2); it ends the name.")
        }
        let pair = Array("\(user):\(password)".utf8)
        guard pair.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw invalid(
                "Basic credentials can't have a line break or another control character (RFC 7617 section 2).")
        }
        return [.authorization: "Basic \(Data(pair).base64EncodedString())"]
    }

    /// Makes the field for a token (RFC 6750 section 2.1). Over plain http anyone on the network path can read it.
    /// - Throws: `LoadError` with the code `invalidHeader` if it has characters that a token can't have.
    public static func bearer(_ token: String) throws -> HTTPFields {
        let end = token.utf8.drop { isTokenCharacter($0) }
        guard end.count < token.utf8.count, end.allSatisfy({ $0 == UInt8(ascii: "=") }) else {
            throw invalid(
                "A bearer token has letters, digits and -._~+/ alone, with = at its end (RFC 6750 section 2.1).")
        }
        return [.authorization: "Bearer \(token)"]
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~+/".utf8.contains(byte)
        }
    }

    // The credentials are secret, so errors don't contain them.
    private static func invalid(_ message: String) -> LoadError {
        LoadError(.invalidHeader, subject: "Authorization", message)
    }
}

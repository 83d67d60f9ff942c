import Essentials
import PipelineHTTP

extension S3Credentials {
    /// Reads the response of a container's or a machine's endpoint; `nil` if it isn't one.
    init?(json: [UInt8]) {
        struct Reply: Decodable {
            let AccessKeyId: String
            let SecretAccessKey: String
            let Token: String?
            let Expiration: String?
        }
        guard let reply = try? JSONDecoder().decode(Reply.self, from: Data(json)) else { return nil }
        self.init(reply.AccessKeyId, reply.SecretAccessKey, reply.Token, until: reply.Expiration)
    }

    /// Reads the response of the Security Token Service; `nil` if it isn't one.
    init?(xml: String) {
        guard let part = XMLText.element("Credentials", of: xml[...]),
            let key = XMLText.element("AccessKeyId", of: part),
            let secret = XMLText.element("SecretAccessKey", of: part),
            let token = XMLText.element("SessionToken", of: part), let end = XMLText.element("Expiration", of: part)
        else { return nil }
        self.init(String(key), String(secret), String(token), until: String(end))
    }

    /// Takes values that another machine has sent; `nil` if no request could be sent with them.
    private init?(_ key: String, _ secret: String, _ token: String?, until end: String?) {
        guard [key, secret, token].allSatisfy({ $0.map(Self.isSendable) ?? true }) else { return nil }
        var expires: Date?
        if let end {
            // Some services send fractions of a second.
            let whole = end.firstIndex(of: ".").map { end[..<$0] + "Z" } ?? end[...]
            guard let date = try? Date(String(whole), strategy: .iso8601) else { return nil }
            expires = date
        }
        self.init(accessKey: key, secretKey: secret, sessionToken: token, expires: expires)
    }

    private static func isSendable(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: "&") }
    }
}

/// Finds elements in the XML of Amazon's services, which has no attributes where it matters, no comments and no CDATA.
enum XMLText {
    /// The text in the first element with a name; `nil` if there is none.
    static func element(_ name: String, of text: Substring) -> Substring? {
        guard let start = text.firstRange(of: "<\(name)>")?.upperBound,
            let end = text[start...].firstRange(of: "</\(name)>")?.lowerBound
        else { return nil }
        return text[start..<end]
    }

    /// A text with its characters for those that are escaped.
    static func unescaped(_ text: Substring) -> String {
        let escapes = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
        return escapes.reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
    }

    /// The code of an error, if the text is one: letters and digits alone, since another machine has sent it.
    static func errorCode(_ text: String) -> String? {
        guard let code = element("Code", of: text[...]), 1...60 ~= code.utf8.count,
            code.utf8.allSatisfy({ byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || byte == UInt8(ascii: ".")
            })
        else { return nil }
        return String(code)
    }
}

import Digests
import HTTPTypes

/// The source of a path, and the extension after it.
struct ImgproxySource {
    /// The source as the path names it: an http or https URL, or a file's name in the folder.
    let name: String
    /// `nil` if the path leaves the format to the options or to the client.
    let fileExtension: Substring?

    /// Reads `plain/SOURCE@EXTENSION`, or the source in base64url with `.EXTENSION` after it, which `enc/` before it says
    /// to be encrypted.
    /// - Parameters:
    ///   - parts: The path after its options, in its components.
    ///   - key: The key of encrypted sources; `nil` refuses them.
    /// - Throws: 400 for a source that can't be read.
    init(_ parts: ArraySlice<Substring>, key: [UInt8]? = nil) throws(Problem) {
        guard let first = parts.first else { throw Problem(.badRequest, "The source is missing after the options.") }
        let (text, fileExtension) =
            switch first {
            case "plain": try Self.plain(parts.dropFirst())
            case "enc": try Self.encrypted(parts.dropFirst(), key)
            default: try Self.encoded(parts)
            }
        guard let text, !text.isEmpty else {
            throw Problem(.badRequest, "The source is neither plain/URL nor a URL in base64url.")
        }
        name = Self.name(text)
        self.fileExtension = fileExtension?.isEmpty == true ? nil : fileExtension
    }

    /// A source as the server reads it: `local:///` is the folder.
    static func name(_ text: String) -> String {
        text.hasPrefix("local:///") ? String(text.dropFirst(9)) : text
    }

    private static func plain(_ parts: ArraySlice<Substring>) throws(Problem) -> (String?, Substring?) {
        let words = Substring(parts.joined(separator: "/")).split(separator: "@", omittingEmptySubsequences: false)
        guard words.count <= 2 else {
            throw Problem(.badRequest, "The source has more than one @. Write %40 for one in the URL.")
        }
        return (words.first?.percentDecoded, words.count == 2 ? words[1] : nil)
    }

    /// imgproxy allows slashes anywhere in the base64, since some programs limit the length of a component. A component
    /// after the extension is the name that a browser saves the file under, and changes nothing.
    private static func encoded(_ parts: ArraySlice<Substring>) throws(Problem) -> (String?, Substring?) {
        let (bytes, fileExtension) = try encodedBytes(parts)
        return (bytes.flatMap { String(validating: $0, as: UTF8.self) }, fileExtension)
    }

    private static func encrypted(
        _ parts: ArraySlice<Substring>, _ key: [UInt8]?
    ) throws(Problem) -> (String?, Substring?) {
        guard let key else { throw Problem(.badRequest, "This server has no key for encrypted sources.") }
        let (bytes, fileExtension) = try encodedBytes(parts)
        let plain = bytes.flatMap { AES.decrypted($0, key: key) }
        return (plain.flatMap { String(validating: $0, as: UTF8.self) }, fileExtension)
    }

    private static func encodedBytes(_ parts: ArraySlice<Substring>) throws(Problem) -> ([UInt8]?, Substring?) {
        let hasName = parts.dropLast().contains { $0.contains(".") }
        let words = Substring((hasName ? parts.dropLast() : parts).joined())
            .split(separator: ".", omittingEmptySubsequences: false)
        guard words.count <= 2 else {
            throw Problem(
                .badRequest, "The source in base64url has more than one extension. Write SOURCE.png/NAME.jpg.")
        }
        return (words.first?.base64Bytes, words.count == 2 ? words[1] : nil)
    }
}

extension Substring {
    /// The text that this is in base64url, with or without padding; `nil` if it is something else.
    var base64Text: String? { base64Bytes.flatMap { String(validating: $0, as: UTF8.self) } }

    /// The bytes that this is in base64url, with or without padding; `nil` if it is something else.
    fileprivate var base64Bytes: [UInt8]? {
        let padding = reversed().prefix { $0 == "=" }.count
        let text = dropLast(padding)
        return text.contains("=") ? nil : [UInt8](base64URL: text)
    }
}

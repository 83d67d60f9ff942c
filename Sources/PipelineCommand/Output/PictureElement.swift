import Pipeline

/// The HTML of one image in several widths and formats.
struct PictureElement: CustomStringConvertible {
    let description: String

    /// - Parameters:
    ///   - files: The files, in the order of their formats. The last format is for browsers that know no other.
    ///   - sizes: How wide the image is shown, as in the attribute `sizes`.
    init(_ files: [JobResult.Written], sizes: String) {
        var formats: [ImageFormat] = []
        for file in files where !formats.contains(file.format) { formats.append(file.format) }
        let lines = formats.map { format in
            let own = files.filter { $0.format == format }
            let set = own.map { "\(Self.url($0.path ?? "")) \($0.size?.width ?? 1)w" }.joined(separator: ", ")
            let attributes = "srcset=\"\(set)\" sizes=\"\(Self.escaped(sizes))\""
            guard format == formats.last, let widest = own.max(by: { $0.size?.width ?? 0 < $1.size?.width ?? 0 }) else {
                return "  <source type=\"\(Self.escaped(format.rawValue))\" \(attributes)>"
            }
            let size = widest.size.map { " width=\"\($0.width)\" height=\"\($0.height)\"" } ?? ""
            let image = "<img src=\"\(Self.url(widest.path ?? ""))\" \(attributes)\(size) alt=\"\">"
            return formats.count > 1 ? "  " + image : image
        }
        description =
            formats.count > 1 ? "<picture>\n\(lines.joined(separator: "\n"))\n</picture>" : lines.joined()
    }

    /// A path as a relative URL (RFC 3986 section 4.2). Commas and spaces would separate the items of a list, and a
    /// colon would end a scheme.
    static func url(_ path: String) -> String {
        let slashes = path.utf8.prefix { $0 == UInt8(ascii: "/") }.count
        // Two slashes would begin the name of a host.
        return path.pathBytes.dropFirst(max(0, slashes - 1)).map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                String(UnicodeScalar(byte))
            case _ where "-._~/".utf8.contains(byte): String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }

    /// A text, escaped for an attribute in quotes.
    private static func escaped(_ text: String) -> String {
        [("&", "&amp;"), ("\"", "&quot;"), ("<", "&lt;"), (">", "&gt;")].reduce(text) {
            $0.replacing($1.0, with: $1.1)
        }
    }
}

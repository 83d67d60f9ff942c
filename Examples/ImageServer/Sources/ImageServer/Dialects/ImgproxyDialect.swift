import Stages

/// imgproxy's signed paths: `/SIGNATURE/OPTION:ARGUMENT/…/plain/URL@EXTENSION`, or the URL in base64url.
///
/// ```
/// /imgproxy/SIGNATURE/rs:fill:400:300/g:sm/q:70/plain/https://example.com/photo.jpg@webp
/// ```
///
/// Options that the library can't carry out are refused by name, and so are unknown ones. `local:///name` is a file of
/// the folder.
struct ImgproxyDialect: Sendable {
    /// The options that `preset:NAME` stands for, such as `rs:fill:100:100/q:60`.
    var presets: [String: String] = [:]
    /// The longest side that a client may ask for, in pixels.
    var longestSide = 8192

    /// Reads a path after its signature, which the caller has checked.
    /// - Throws: 400 with the option that is wrong.
    func request(_ path: Substring) throws(Problem) -> PictureRequest {
        var reading = ImgproxyOptions(longestSide: longestSide)
        var rest = path.split(separator: "/", omittingEmptySubsequences: false)[...]
        while let part = rest.first, part.contains(":"), !part.hasPrefix("http:"), !part.hasPrefix("https:") {
            rest.removeFirst()
            let words = part.split(separator: ":", omittingEmptySubsequences: false)
            guard words[0] == "preset" || words[0] == "pr" else {
                try reading.read(words)
                continue
            }
            for name in words.dropFirst() {
                guard let preset = presets[String(name)] else {
                    throw Problem(.badRequest, "No preset is named \(name).")
                }
                for option in preset.split(separator: "/") { try reading.read(option.split(separator: ":")) }
            }
        }
        let (source, fileExtension) = try Self.source(rest)
        var request = try reading.finished(source)
        if let fileExtension { request.format = try PictureRequest.format(fileExtension) }
        return request
    }

    /// Reads the source and the extension after it.
    private static func source(_ parts: ArraySlice<Substring>) throws(Problem) -> (String, Substring?) {
        guard let first = parts.first else { throw Problem(.badRequest, "The source is missing after the options.") }
        let text: String?
        let fileExtension: Substring?
        if first == "plain" {
            let words = parts.dropFirst().joined(separator: "/").split(separator: "@", omittingEmptySubsequences: false)
            guard let name = words.first, words.count <= 2 else {
                throw Problem(.badRequest, "The source has more than one @; write %40 for one in the URL.")
            }
            text = name.percentDecoded
            fileExtension = words.count == 2 ? words[1] : nil
        } else {
            // imgproxy allows slashes anywhere in the base64, since some programs limit the length of a component.
            let words = parts.joined().split(separator: ".", omittingEmptySubsequences: false)
            text = words.first.flatMap { [UInt8](base64URL: $0) }.flatMap { String(validating: $0, as: UTF8.self) }
            fileExtension = words.count == 2 ? words[1] : nil
        }
        guard let text, !text.isEmpty else {
            throw Problem(.badRequest, "The source is neither plain/URL nor a URL in base64url.")
        }
        return (text.hasPrefix("local:///") ? String(text.dropFirst(9)) : text, fileExtension)
    }
}

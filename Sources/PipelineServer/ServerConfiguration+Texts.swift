import Essentials
import Pipeline
public import PipelineImages

/// The values of a configuration as people write them in options and files.
extension ServerConfiguration {
    /// Reads the qualities of formats, such as `avif=60`.
    /// - Throws: ``ServerConfigurationError`` for a text that isn't one.
    public static func qualities(_ texts: [String]) throws(ServerConfigurationError) -> [ImageFormat: Int] {
        try values(texts, "FORMAT=QUALITY, with a quality of 1 to 100") { text in
            Int(text).flatMap { 1...100 ~= $0 ? $0 : nil }
        }
    }

    /// Reads the sizes of formats in pixels, such as `avif=0-2000000`, `avif=10000-` or `avif=-2000000`.
    /// - Throws: ``ServerConfigurationError`` for a text that isn't one.
    public static func sizes(_ texts: [String]) throws(ServerConfigurationError) -> [ImageFormat: ClosedRange<Int>] {
        try values(texts, "FORMAT=PIXELS-PIXELS") { text in
            let ends = text.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = ends[0].isEmpty ? 0 : ends[0].plainNumber,
                let last = ends[1].isEmpty ? .max : ends[1].plainNumber, first <= last
            else { return nil }
            return first...last
        }
    }

    private static func values<Value>(
        _ texts: [String], _ form: String, _ read: (Substring) -> Value?
    ) throws(ServerConfigurationError) -> [ImageFormat: Value] {
        var values: [ImageFormat: Value] = [:]
        for text in texts {
            let words = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2, let format = PictureRequest.formats[words[0].lowercased()],
                let value = read(words[1])
            else { throw ServerConfigurationError("\(text) is not \(form).") }
            values[format] = value
        }
        return values
    }

    /// The token in a file, as for ``purgeToken``: its text without white space at the ends.
    /// - Throws: ``ServerConfigurationError`` for a file that can't be read, and for less than 16 bytes, which can be
    ///   guessed.
    public static func token(inFile path: String) throws(ServerConfigurationError) -> String {
        let token = try text(inFile: path).split(whereSeparator: \.isWhitespace)
        guard token.count == 1, let token = token.first, token.utf8.count >= 16 else {
            throw ServerConfigurationError("The file \(path) is not a token of 16 bytes or more.")
        }
        return String(token)
    }

    /// The key in a file, in hexadecimal.
    /// - Throws: ``ServerConfigurationError`` for a file that can't be read, and for other text.
    public static func key(inFile path: String) throws(ServerConfigurationError) -> [UInt8] {
        guard let key = [UInt8](hex: try text(inFile: path).filter { !$0.isWhitespace }) else {
            throw ServerConfigurationError("The file \(path) is not a key in hexadecimal.")
        }
        return key
    }

    /// The bytes of a picture's file, as for ``fallback``. It is decoded once, on the calling thread, while the server
    /// starts.
    /// - Throws: `LoadError` with the path for a file that can't be read, or isn't a picture that every list can read.
    public static func picture(inFile path: String) throws -> [UInt8] {
        _ = try DecodedImage(file: path, codecs: .standard, limits: ImageLimits())
        return try Array(Data(contentsOf: URL(filePath: path)))
    }

    fileprivate static func text(inFile path: String) throws(ServerConfigurationError) -> String {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ServerConfigurationError("The file \(path) can't be read.")
        }
        return text
    }
}

extension SigningKeys {
    /// Reads a file of keys; see ``init(file:)``.
    /// - Throws: ``ServerConfigurationError`` for a file that can't be read or is malformed.
    public init(contentsOfFile path: String) throws(ServerConfigurationError) {
        let text = try ServerConfiguration.text(inFile: path)
        do { try self.init(file: text) } catch { throw ServerConfigurationError("\(path): \(error)") }
    }
}

extension SourcePolicy {
    /// Allows the files of a folder and the URLs below some, as texts.
    /// - Throws: ``ServerConfigurationError`` for a text that isn't an http, https or `s3:` URL.
    public init(folder: String?, prefixes: [String]) throws(ServerConfigurationError) {
        var origins: [URL] = []
        for text in prefixes {
            guard let url = URL(string: text), Self.isOrigin(url) else {
                throw ServerConfigurationError("\(text) is not an http, https or s3 URL.")
            }
            origins.append(url)
        }
        self.init(folder: folder, origins: origins)
    }
}

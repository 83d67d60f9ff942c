import Digests
import HTTPTypes
import Pipeline
import PipelineImages

/// imgproxy's signed paths: `/SIGNATURE/OPTION:ARGUMENT/…/plain/URL@EXTENSION`, or the URL in base64url.
///
/// ```
/// /imgproxy/SIGNATURE/rs:fill:400:300/g:sm/q:70/plain/https://example.com/photo.jpg@webp
/// ```
///
/// A path gives the picture that imgproxy makes of it, or a 400 that names the option. `local:///name` is a file of the
/// folder. Signed are the key's salt and the path from the slash after the signature on. Without keys the signature may be
/// anything. `exp:SECONDS` is one of the options.
public struct ImgproxyDialect: Dialect {
    public let name = "imgproxy"
    private let presets: [String: String]
    private let longestSide: Int
    private let watermark: Watermark?
    private let givesPresetsOnly: Bool
    private let baseURL: String
    private let sourceKey: [UInt8]?
    /// The most options of a path, those of its presets included.
    private static let mostOptions = 100

    /// - Parameters:
    ///   - presets: The options that `preset:NAME` stands for, such as `rs:fill:100:100/q:60`. Those of `default` come
    ///     before the options of every path.
    ///   - longestSide: The longest side that a client may ask for, in pixels.
    ///   - watermark: What the option `watermark` lays over pictures whose path names none by `watermark_url`; `nil`, the
    ///     default, refuses it for these.
    ///   - givesPresetsOnly: Whether paths name presets in place of options, as in `/SIGNATURE/small:sharp/plain/URL`; by
    ///     default they don't.
    ///   - baseURL: What is put before each source, such as `https://example.com/photos/`; nothing by default.
    ///   - sourceKey: The key of encrypted sources, `/enc/SOURCE`: 16, 24 or 32 bytes for AES-CBC. `nil`, the default,
    ///     refuses them.
    /// - Throws: ``ServerConfigurationError`` with the preset whose options can't be read, and for a key of another length.
    public init(
        presets: [String: String] = [:], longestSide: Int = 8192, watermark: Watermark? = nil,
        givesPresetsOnly: Bool = false, baseURL: String = "", sourceKey: [UInt8]? = nil
    ) throws(ServerConfigurationError) {
        (self.presets, self.longestSide, self.watermark) = (presets, longestSide, watermark)
        (self.givesPresetsOnly, self.baseURL, self.sourceKey) = (givesPresetsOnly, baseURL, sourceKey)
        if let sourceKey, !AES.keyLengths.contains(sourceKey.count) {
            throw ServerConfigurationError("The key of encrypted sources has 16, 24 or 32 bytes.")
        }
        for name in presets.keys.sorted() {
            var (options, count) = (ImgproxyOptions(longestSide: longestSide, watermark: watermark), 0)
            do { try read(["preset:\(name)"], into: &options, &count, within: []) } catch {
                throw ServerConfigurationError("The preset \(name) of imgproxy's paths is malformed. \(error.detail)")
            }
        }
    }

    public func signedText(of path: DialectPath) throws(Problem) -> SignedText {
        if path.isSigned { try path.refuseQuery() }
        let signature = path.rest.prefix { $0 != "/" }
        return SignedText(path.rest.dropFirst(signature.count), signature: signature, isSalted: true)
    }

    public func request(_ path: DialectPath) throws(Problem) -> DialectRequest {
        .picture(try picture(path.rest.drop { $0 != "/" }.dropFirst()))
    }

    /// Reads a path after its signature.
    /// - Throws: 400 with the option that is wrong.
    func picture(_ path: Substring) throws(Problem) -> PictureRequest {
        var rest = Self.restored(path).split(separator: "/", omittingEmptySubsequences: false)[...]
        let written: [Substring]
        if givesPresetsOnly {
            // A source without presets is what the preset `default` makes of it.
            let names = rest.first.flatMap { ["plain", "enc"].contains($0) || rest.count == 1 ? nil : $0 }
            written = names.map { ["preset:\($0)"] } ?? []
        } else {
            written = Array(rest.prefix { $0.contains(":") })
        }
        rest = rest.dropFirst(written.count)
        var (options, count) = (ImgproxyOptions(longestSide: longestSide, watermark: watermark), 0)
        if presets["default"] != nil { try read(["preset:default"], into: &options, &count, within: []) }
        try read(written, into: &options, &count, within: [])
        let source = try ImgproxySource(rest, key: sourceKey)
        if let name = source.fileExtension { try options.read(format: name) }
        return try options.request(for: baseURL + source.name)
    }

    /// Reads options. A preset that is being read is skipped where it names itself, as imgproxy does.
    private func read(
        _ written: [Substring], into options: inout ImgproxyOptions, _ count: inout Int, within names: [Substring]
    ) throws(Problem) {
        for option in written.map(ImgproxyArguments.init) {
            count += 1
            guard count <= Self.mostOptions else {
                throw Problem(.badRequest, "A path has at most \(Self.mostOptions) options, those of presets included.")
            }
            guard option.name == "preset" || option.name == "pr" else {
                try options.read(option)
                continue
            }
            for name in option.all {
                guard let preset = presets[String(name)] else { throw option.wrong("No preset is named \(name).") }
                if names.contains(name) { continue }
                try read(preset.split(separator: "/"), into: &options, &count, within: names + [name])
            }
        }
    }

    /// Undoes what proxies do to paths: `%3A` for the colons of options, and `http:/` for `http://`.
    static func restored(_ path: Substring) -> Substring {
        let plain = path.hasPrefix("plain/") ? path.startIndex : path.firstRange(of: "/plain/")?.lowerBound
        let options = path[..<(plain ?? path.endIndex)].replacing("%3A", with: ":").replacing("%3a", with: ":")
        guard let plain, let start = path[plain...].firstRange(of: "plain/")?.upperBound else {
            return Substring(options)
        }
        let scheme = path[start...].prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }
        let rest = path[scheme.endIndex...]
        guard !scheme.isEmpty, rest.hasPrefix(":/"), !rest.hasPrefix("://") else {
            return Substring(options + path[plain...])
        }
        let slashes = scheme == "local" ? ":///" : "://"
        return Substring(options + path[plain..<scheme.endIndex] + slashes + rest.dropFirst(2))
    }
}

import FoundationEssentials
import Stages

/// Reads the path of a request in its dialect, after checking its signature and its expiry.
///
/// Each dialect has its own place for them:
///
/// - `/thumb/…?expires=SECONDS&signature=…`: signed is the path with `?expires=SECONDS`, or the path alone.
/// - `/imgproxy/SIGNATURE/…`: signed are the key's salt and the rest of the path, from its slash on. `exp:SECONDS` is one
///   of the options. Without keys the signature may be anything.
/// - `/iiif/SECONDS.SIGNATURE/IDENTIFIER/…`: signed is `SECONDS/IDENTIFIER`, since viewers make the rest of the path
///   themselves. 0 is for ever. Where unsigned paths are served, this component is left out.
struct SignedPaths: Sendable {
    /// What a request asks for.
    enum Wanted: Sendable {
        case picture(PictureRequest)
        /// A picture by the IIIF Image API, with the address of its source.
        case tile(PictureRequest, base: String, parts: [Substring])
        /// The description of a source at this address.
        case info(source: String, base: String)
        case redirect(to: String)
    }

    private let signatures: Signatures
    private let allowsUnsigned: Bool
    private let publicURL: String?
    private let thumb: ThumbDialect
    private let imgproxy: ImgproxyDialect
    private let iiif: IIIFDialect
    private let clock: any LoadClock

    init(_ settings: Settings, clock: any LoadClock) throws {
        signatures =
            try settings.keysFile.map { try Signatures(file: String(contentsOfFile: $0, encoding: .utf8)) }
            ?? Signatures()
        guard settings.unsigned || !signatures.keys.isEmpty else { throw SettingsError("The file of keys has none.") }
        allowsUnsigned = settings.unsigned
        publicURL = settings.publicURL
        thumb = ThumbDialect(presets: Settings.named(settings.presets), longestSide: settings.longestSide)
        imgproxy = ImgproxyDialect(presets: Settings.named(settings.imgproxyPresets), longestSide: settings.longestSide)
        iiif = IIIFDialect(longestSide: settings.longestSide)
        self.clock = clock
    }

    /// Checks the signature of a path, and the expiry that is signed with it. It is called for every request, even one
    /// whose path has been read before.
    /// - Throws: 403 if the signature is missing or wrong, or has expired.
    func check(_ path: String, query: String?) throws(Problem) {
        if path.hasPrefix("/thumb/") {
            let (expires, signature) = Self.query(query ?? "")
            try check(signature, of: expires.map { "\(path)?expires=\($0)" } ?? path)
            try check(expires: expires)
        } else if allowsUnsigned {
            return
        } else if path.hasPrefix("/imgproxy/") {
            let rest = path.dropFirst(10)
            let signature = rest.prefix { $0 != "/" }
            try check(signature, of: rest.dropFirst(signature.count), salted: true)
        } else if path.hasPrefix("/iiif/") {
            let (token, rest) = Self.token(path)
            let words = token.split(separator: ".", maxSplits: 1)
            guard words.count == 2, let expires = words[0].plainNumber,
                let source = rest.prefix(while: { $0 != "/" }).percentDecoded
            else { throw Problem(.forbidden, "The signature is missing. Write /iiif/SECONDS.SIGNATURE/IDENTIFIER/…") }
            try check(words[1], of: "\(expires)/\(source)")
            try check(expires: expires == 0 ? nil : expires)
        }
    }

    /// Reads a path whose signature has been checked.
    /// - Parameters:
    ///   - path: The request's path.
    ///   - hints: The client's hints, for `/thumb/`.
    ///   - authority: The host that the client has used, for the addresses in responses.
    /// - Throws: 400 for a malformed path, 404 for one of no dialect.
    func wanted(by path: String, _ hints: ClientHints?, authority: String?) throws(Problem) -> Wanted {
        if path.hasPrefix("/thumb/") {
            return .picture(try thumb.request(path.dropFirst(7), hints ?? ClientHints()))
        }
        if path.hasPrefix("/imgproxy/") {
            return .picture(try imgproxy.request(path.dropFirst(10).drop { $0 != "/" }.dropFirst()))
        }
        guard path.hasPrefix("/iiif/") else {
            throw Problem(.notFound, "Paths begin with /thumb/, /imgproxy/ or /iiif/.")
        }
        let (token, rest) = allowsUnsigned ? ("", path.dropFirst(6)) : Self.token(path)
        let address = publicURL ?? "http://\(authority ?? "localhost")"
        let base = "\(address)/iiif/\(token.isEmpty ? "" : token + "/")\(rest.prefix { $0 != "/" })"
        switch try iiif.request(rest) {
        case .picture(let picture): return .tile(picture, base: base, parts: rest.split(separator: "/"))
        case .info(let source): return .info(source: source, base: base)
        case .base: return .redirect(to: base + "/info.json")
        }
    }

    /// The path to a source by the IIIF Image API, signed if need be, for pages of the server's own.
    func iiifPath(to source: String) -> String {
        if allowsUnsigned { return "/iiif/\(source.percentEncoded)" }
        return "/iiif/0.\(signatures.signature(of: "0/\(source)") ?? "")/\(source.percentEncoded)"
    }

    /// The path of a thumbnail, signed if need be, for pages of the server's own.
    func thumbPath(_ options: String, _ source: String) -> String {
        let path = "/thumb/\(options)/\(source.percentEncoded)"
        return allowsUnsigned ? path : "\(path)?signature=\(signatures.signature(of: path) ?? "")"
    }

    private func check(
        _ signature: Substring?, of text: some StringProtocol, salted: Bool = false
    ) throws(Problem) {
        guard !allowsUnsigned else { return }
        guard let signature, signatures.isValid(signature, of: text, salted: salted) else {
            throw Problem(
                .forbidden, "The path's signature is missing or wrong. Sign it with one of the server's keys.")
        }
    }

    /// Splits a path that begins with `/iiif/SECONDS.SIGNATURE/`.
    private static func token(_ path: String) -> (token: Substring, rest: Substring) {
        let token = path.dropFirst(6).prefix { $0 != "/" }
        return (token, path.dropFirst(6 + token.count + 1))
    }

    /// - Throws: 403 if a path is no longer valid. `expires` is in seconds since 1970.
    func check(expires: Int?) throws(Problem) {
        guard let expires, Double(expires) < clock.now.timeIntervalSince1970 else { return }
        throw Problem(.forbidden, "The path has expired. Ask the page that it is on for a new one.")
    }

    private static func query(_ text: String) -> (expires: Int?, signature: Substring?) {
        let pairs = text.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
        func value(_ name: String) -> Substring? { pairs.first { $0.count == 2 && $0[0] == name }?[1] }
        return (value("expires")?.plainNumber, value("signature"))
    }
}

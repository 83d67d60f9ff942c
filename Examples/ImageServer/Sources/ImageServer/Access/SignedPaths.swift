import FoundationEssentials
import Stages
import Synchronization

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

    private let keysFile: String?
    private let keyRing: KeyRing
    private let allowsUnsigned: Bool
    private let thumb: ThumbDialect
    private let imgproxy: ImgproxyDialect
    private let iiif: IIIFDialect
    private let clock: any LoadClock

    init(_ settings: Settings, clock: any LoadClock) throws {
        keysFile = settings.keysFile
        keyRing = KeyRing(try settings.keysFile.map(Self.signatures) ?? Signatures())
        allowsUnsigned = settings.unsigned
        thumb = ThumbDialect(presets: Settings.named(settings.presets), longestSide: settings.longestSide)
        imgproxy = ImgproxyDialect(presets: Settings.named(settings.imgproxyPresets), longestSide: settings.longestSide)
        iiif = IIIFDialect(longestSide: settings.longestSide)
        self.clock = clock
    }

    /// Reads the file of keys again.
    /// - Throws: ``SettingsError`` without a file, and for one that can't be used; the keys from before stay.
    func reloadKeys() throws(SettingsError) {
        guard let keysFile else { throw SettingsError("This server has no file of keys.") }
        keyRing.replace(try Self.signatures(keysFile))
    }

    private static func signatures(_ file: String) throws(SettingsError) -> Signatures {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw SettingsError("The file of keys, \(file), can't be read.")
        }
        let signatures = try Signatures(file: text)
        guard !signatures.keys.isEmpty else { throw SettingsError("The file of keys, \(file), has none.") }
        return signatures
    }

    private var signatures: Signatures { keyRing.signatures }

    /// The keys, which are replaced while the server runs.
    private final class KeyRing: Sendable {
        private let current: Mutex<Signatures>

        init(_ signatures: Signatures) { current = Mutex(signatures) }

        var signatures: Signatures { current.withLock { $0 } }

        func replace(_ signatures: Signatures) { current.withLock { $0 = signatures } }
    }

    /// Checks the signature of a path, and the expiry that is signed with it. It is called for every request, even one
    /// whose path has been read before.
    /// - Throws: 403 if the signature is missing or wrong, or has expired; 400 for a query that isn't signed, which would
    ///   make one picture many for the caches in front.
    func check(_ path: String, query: String?) throws(Problem) {
        if path.hasPrefix("/thumb/") {
            let (expires, signature) = try values(of: query ?? "")
            try check(signature, of: expires.map { "\(path)?expires=\($0)" } ?? path)
            try check(expires: expires)
            return
        }
        if allowsUnsigned { return }
        guard query == nil else { throw Problem(.badRequest, "A signed path has no query.") }
        if path.hasPrefix("/imgproxy/") {
            let rest = path.dropFirst(10)
            let signature = rest.prefix { $0 != "/" }
            try check(signature, of: rest.dropFirst(signature.count), salted: true)
        } else if path.hasPrefix("/iiif/") {
            let (token, rest) = Self.token(path)
            let words = token.split(separator: ".", maxSplits: 1)
            let identifier = rest.prefix { $0 != "/" }
            guard words.count == 2, let expires = words[0].canonicalNumber, let source = identifier.percentDecoded
            else {
                throw Problem(.forbidden, "The signature is missing. Write /iiif/SECONDS.SIGNATURE/IDENTIFIER/…")
            }
            guard identifier == source.percentEncoded else {
                throw Problem(
                    .badRequest,
                    "Write each byte of a signed identifier but letters, digits and -._~ as %XX, in capital letters.")
            }
            try check(words[1], of: "\(expires)/\(source)")
            try check(expires: expires == 0 ? nil : expires)
        }
    }

    /// Reads a path whose signature has been checked.
    /// - Parameters:
    ///   - path: The request's path.
    ///   - hints: The client's hints, for `/thumb/`.
    ///   - address: The server's address for the addresses in responses.
    /// - Throws: 400 for a malformed path, 404 for one of no dialect.
    func wanted(by path: String, _ hints: ClientHints?, address: String) throws(Problem) -> Wanted {
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

    /// Reads `expires=SECONDS&signature=…`. Where paths are signed, nothing else may stand there.
    private func values(of query: String) throws(Problem) -> (expires: Int?, signature: Substring?) {
        var values: [Substring: Substring] = [:]
        for pair in query.split(separator: "&", omittingEmptySubsequences: false) where !query.isEmpty {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let isKnown = parts.count == 2 && ["expires", "signature"].contains(parts[0]) && values[parts[0]] == nil
            guard isKnown || allowsUnsigned else {
                throw Problem(.badRequest, "The query is expires=SECONDS&signature=…, and nothing else.")
            }
            if isKnown { values[parts[0]] = parts[1] }
        }
        guard let expires = values["expires"] else { return (nil, values["signature"]) }
        guard let seconds = expires.canonicalNumber else {
            throw Problem(.forbidden, "The expiry is not a number of seconds since 1970.")
        }
        return (seconds, values["signature"])
    }
}

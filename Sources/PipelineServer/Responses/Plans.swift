import Essentials
import HTTPTypes
import Pipeline
import Stages

/// What follows from a request's path and fields alone.
enum Plan: Sendable {
    case redirect(to: String)
    case load(PlannedLoad)

    /// Whether it has led to a result, which is most likely in memory.
    var hasAnswered: Bool { if case .load(let load) = self { load.hasAnswered } else { false } }
}

/// Makes plans, and keeps the recent ones: reading a path takes several times as long as a hit in memory.
final class Plans: Sendable {
    /// A request as far as a plan depends on it, and the plan if it is kept.
    struct Lookup: Sendable {
        fileprivate let key: Key
        fileprivate let dialect: any Dialect
        fileprivate let query: String?
        /// The plan of the same request before. This one is still to be checked.
        let kept: Plan?
    }

    /// Everything in a request that a plan depends on.
    fileprivate struct Key: Hashable, Sendable {
        let path: String
        /// The server's address, where the reply has it.
        let address: String?
        /// The formats that a picture may have for the client, not what it says of them: each choice is a list of its own.
        let formats: AcceptedFormats
        let wantsLinkedData: Bool
        let hints: ClientHints?

        init(_ fields: HTTPFields, path: String, address: String, _ parts: RequestParts, _ formats: AcceptedFormats) {
            self.path = path
            self.formats = formats
            self.address = parts.contains(.address) ? address : nil
            wantsLinkedData =
                parts.contains(.linkedData) && fields[.accept]?.contains("application/ld+json") == true
            hints = parts.contains(.clientHints) ? ClientHints(fields) : nil
        }
    }

    private let keys: KeyRing
    private let partition: String?
    private let clock: any LoadClock
    private let lists: PictureLists
    private let sources: SourcePolicy
    private let maxAge: Duration
    private let lifetimes: [SourceLifetime]
    private let sizes: [ImageFormat: ClosedRange<Int>]
    private let recent = Lock(RecentValues<Key, Plan>())
    private let formats = Remembered<String, AcceptedFormats>()
    /// The fields that all replies have.
    private let fields: HTTPFields

    /// - Parameter partition: The partition of all requests: the tenant's name, or `nil` for none.
    init(
        _ configuration: ServerConfiguration, keys: KeyRing, clock: any LoadClock, lists: PictureLists,
        partition: String?
    ) {
        (self.keys, self.clock, self.lists, self.partition) = (keys, clock, lists, partition)
        sources = configuration.sources
        maxAge = configuration.maxAge
        lifetimes = configuration.lifetimes
        sizes = configuration.sizes
        fields = Reply.shared + (configuration.isCrossOrigin ? Reply.crossOrigin : [:])
    }

    /// Looks for the plan of a request.
    /// - Parameters:
    ///   - path: The request's path.
    ///   - address: The server's address, for the replies that have it.
    func find(_ dialect: any Dialect, _ fields: HTTPFields, path: String, query: String?, address: String) -> Lookup {
        let key = Key(fields, path: path, address: address, dialect.reads, formats(of: fields[.accept]))
        return Lookup(key: key, dialect: dialect, query: query, kept: recent.withLock { $0[key] })
    }

    /// What a field leads to. Long ones, which browsers don't send, aren't remembered.
    private func formats(of accept: String?) -> AcceptedFormats {
        let field = accept ?? ""
        func read() -> AcceptedFormats {
            AcceptedFormats(accept: field, codecs: lists.codecs, countsWeights: false, sizes: sizes)
        }
        return field.utf8.count <= 256 ? formats.value(field, read) : read()
    }

    /// Returns the plan of a request, and when its path stops being valid, in seconds since 1970; `nil` for never.
    /// - Throws: `Problem` for a path that is malformed, not signed or expired, or whose source isn't allowed; `LoadError`
    ///   for a list that can't run.
    func plan(for lookup: Lookup) throws -> (plan: Plan, expires: Int?) {
        let key = lookup.key
        let signed = try signedText(lookup)
        guard isSigned(signed) else {
            throw Problem(
                .forbidden, "The path's signature is missing or wrong. Sign it with one of the server's keys.")
        }
        try check(expires: signed.expires)
        func valid(_ plan: Plan) throws -> (Plan, Int?) {
            guard case .load(let load) = plan else { return (plan, signed.expires) }
            try check(expires: load.expires)
            return (plan, [signed.expires, load.expires].compactMap(\.self).min())
        }
        // Another request may have made it meanwhile.
        if let plan = lookup.kept ?? recent.withLock({ $0[key] }) { return try valid(plan) }
        let wanted = try lookup.dialect.request(path(key, nil, isSigned: keys.isSigned))
        let plan = try newPlan(for: key, wanted, lookup.dialect.reads)
        recent.withLock { $0.keep(plan, key) }
        return try valid(plan)
    }

    /// Whether a request's path has a signature of these keys, expired or not.
    func isSigned(_ lookup: Lookup) -> Bool { (try? signedText(lookup)).map(isSigned) ?? false }

    private func signedText(_ lookup: Lookup) throws(Problem) -> SignedText {
        try lookup.dialect.signedText(of: path(lookup.key, lookup.query, isSigned: keys.isSigned))
    }

    private func isSigned(_ signed: SignedText) -> Bool {
        guard keys.isSigned else { return true }
        guard let signature = signed.signature, let keys = keys.keys else { return false }
        return keys.isValid(signature, of: signed.text, isSalted: signed.isSalted, algorithm: signed.algorithm)
    }

    private func path(_ key: Key, _ query: String?, isSigned: Bool) -> DialectPath {
        DialectPath(
            key.path, query: query, isSigned: isSigned, address: key.address ?? "", hints: key.hints,
            wantsLinkedData: key.wantsLinkedData)
    }

    private func newPlan(for key: Key, _ wanted: DialectRequest, _ parts: RequestParts) throws -> Plan {
        switch wanted {
        case .redirect(let location): return .redirect(to: location)
        case .description(let description):
            var fields = fields
            if parts.contains(.linkedData) { fields[.vary] = "Accept" }
            return .load(
                PlannedLoad(
                    description, fields, try request(for: description.source), lists.list(for: description)))
        case .picture(let picture):
            try check(expires: picture.expires)
            return .load(
                PlannedLoad(
                    picture, fields, try request(for: picture.source), lists.list(for: picture, key.formats),
                    overlays: try overlays(of: picture), key.formats))
        }
    }

    /// - Throws: 403 if a path is no longer valid. `expires` is in seconds since 1970.
    private func check(expires: Int?) throws(Problem) {
        guard let expires, Double(expires) < clock.now.timeIntervalSince1970 else { return }
        throw Problem(.forbidden, "The path has expired. Ask the page that it is on for a new one.")
    }

    /// The list that makes a source's ThumbHash, and its request.
    func hash(of source: String) throws -> (ImageRequest, ImagePipeline) {
        (try request(for: source), lists.listOfHash())
    }

    private func overlays(of picture: PictureRequest) throws(Problem) -> [ImageRequest] {
        do { return try picture.overlays.map { source throws(Problem) in try request(for: source) } } catch {
            throw error.ofOverlay
        }
    }

    private func request(for source: String) throws(Problem) -> ImageRequest {
        let source = try sources.source(source)
        guard case .url(let url) = source, let rule = lifetimes.rule(for: url), let own = rule.maxAge else {
            return ImageRequest(source, expiry: .server(otherwise: maxAge), partition: partition)
        }
        return ImageRequest(
            source, expiry: rule.isFixed ? .after(own) : .server(otherwise: own), partition: partition)
    }
}

/// The keys, which are replaced while the server runs.
final class KeyRing: Sendable {
    private let isOpen: Bool
    private let current: Lock<SigningKeys?>

    /// - Parameter isOpen: Whether paths are served without a signature as long as there are no keys.
    init(_ keys: SigningKeys?, isOpen: Bool) { (self.isOpen, current) = (isOpen, Lock(keys)) }

    /// Whether paths have to be signed. Without keys none is then.
    var isSigned: Bool { !isOpen || keys != nil }

    var keys: SigningKeys? { current.withLock { $0 } }

    func replace(_ keys: SigningKeys?) { current.withLock { $0 = keys } }
}

import HTTPTypes
import Hummingbird
import Stages
import Synchronization

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

        init(_ request: Request, path: String, address: String, _ formats: AcceptedFormats) {
            self.path = path
            self.formats = formats
            let isIIIF = path.hasPrefix("/iiif/")
            self.address = isIIIF ? address : nil
            wantsLinkedData =
                isIIIF && path.hasSuffix("/info.json")
                && request.headers[.accept]?.contains("application/ld+json") == true
            hints = path.hasPrefix("/thumb/") ? ClientHints(request.headers) : nil
        }
    }

    private let paths: SignedPaths
    private let lists: PictureLists
    private let sources: SourcePolicy
    private let maxAge: Int
    private let recent = Mutex(RecentValues<Key, Plan>())
    private let formats = Remembered<String, AcceptedFormats>()
    /// The fields that all replies have.
    private let fields: HTTPFields
    private let longestSide: Int

    init(_ settings: Settings, paths: SignedPaths, lists: PictureLists) throws {
        self.paths = paths
        self.lists = lists
        sources = SourcePolicy(folder: settings.folder, origins: try settings.allowedOrigins())
        maxAge = settings.maxAge
        fields = Reply.shared + (settings.isCrossOrigin ? Reply.crossOrigin : [:])
        longestSide = settings.longestSide
    }

    /// Looks for the plan of a request.
    /// - Parameters:
    ///   - path: The request's path.
    ///   - address: The server's address, for the replies that have it.
    func find(_ request: Request, path: String, address: String) -> Lookup {
        let key = Key(request, path: path, address: address, formats(of: request.headers[.accept]))
        return Lookup(key: key, query: request.uri.query, kept: recent.withLock { $0[key] })
    }

    /// What a field leads to. Long ones, which browsers don't send, aren't remembered.
    private func formats(of accept: String?) -> AcceptedFormats {
        let field = accept ?? ""
        func read() -> AcceptedFormats {
            AcceptedFormats(accept: field, codecs: lists.codecs, countsWeights: false)
        }
        return field.utf8.count <= 256 ? formats.value(field, read) : read()
    }

    /// Returns the plan of a request.
    /// - Throws: `Problem` for a path that is malformed, not signed or expired, or whose source isn't allowed; `LoadError`
    ///   for a list that can't run.
    func plan(for lookup: Lookup) throws -> Plan {
        let key = lookup.key
        try paths.check(key.path, query: lookup.query)
        // Another request may have made it meanwhile.
        if let plan = lookup.kept ?? recent.withLock({ $0[key] }) {
            if case .load(let load) = plan { try paths.check(expires: load.expires) }
            return plan
        }
        let plan = try newPlan(for: key)
        recent.withLock { $0.keep(plan, key) }
        return plan
    }

    private func newPlan(for key: Key) throws -> Plan {
        switch try paths.wanted(by: key.path, key.hints, address: key.address ?? "") {
        case .redirect(let location): return .redirect(to: location)
        case .info(let source, let base):
            return .load(
                PlannedLoad(
                    description: source, base, longestSide: longestSide, asLinkedData: key.wantsLinkedData,
                    fields, try request(for: source), lists.listOfSize()))
        case .picture(let picture):
            return .load(try load(picture, key))
        case .tile(let picture, let base, let parts):
            return .load(try load(picture, key, canonical: (base, parts)))
        }
    }

    private func load(
        _ picture: PictureRequest, _ key: Key, canonical: (base: String, parts: [Substring])? = nil
    ) throws -> PlannedLoad {
        try paths.check(expires: picture.expires)
        return PlannedLoad(
            picture, canonical: canonical, fields, try request(for: picture.source),
            lists.list(for: picture, key.formats))
    }

    /// The list that makes a source's ThumbHash, and its request.
    func hash(of source: String) throws -> (ImageRequest, ImagePipeline) {
        (try request(for: source), lists.listOfHash())
    }

    private func request(for source: String) throws(Problem) -> ImageRequest {
        ImageRequest(try sources.source(source), expiry: .server(otherwise: .seconds(maxAge)))
    }
}

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
    /// Everything in a request that a plan depends on.
    private struct Key: Hashable {
        let path: String
        let authority: String?
        let accept: String?
        let hints: ClientHints?

        init(_ request: Request) {
            path = request.uri.path
            authority = request.head.authority
            accept = request.headers[.accept]
            hints = path.hasPrefix("/thumb/") ? ClientHints(request.headers) : nil
        }
    }

    private let paths: SignedPaths
    private let lists: PictureLists
    private let sources: SourcePolicy
    private let maxAge: Int
    private let recent = Mutex<[Key: Plan]>([:])
    private static let maximumRecent = 512

    init(_ settings: Settings, paths: SignedPaths, lists: PictureLists) throws {
        self.paths = paths
        self.lists = lists
        sources = SourcePolicy(folder: settings.folder, origins: try settings.allowedOrigins())
        maxAge = settings.maxAge
    }

    /// The plan for a request that was made before and is kept. The request is still to be checked.
    func kept(for request: Request) -> Plan? {
        let key = Key(request)
        return recent.withLock { $0[key] }
    }

    /// Returns the plan for a request.
    /// - Parameter kept: What ``kept(for:)`` has returned.
    /// - Throws: `Problem` for a path that is malformed, not signed or expired, or whose source isn't allowed; `LoadError`
    ///   for a list that can't run.
    func plan(for request: Request, kept: Plan?) throws -> Plan {
        try paths.check(request.uri.path, query: request.uri.query)
        // Another request may have made it meanwhile.
        if let plan = kept ?? self.kept(for: request) {
            if case .load(let load) = plan { try paths.check(expires: load.expires) }
            return plan
        }
        let key = Key(request)
        let plan = try newPlan(for: key)
        recent.withLock { plans in
            if plans.count >= Self.maximumRecent { plans.removeAll() }
            plans[key] = plan
        }
        return plan
    }

    private func newPlan(for key: Key) throws -> Plan {
        switch try paths.wanted(by: key.path, key.hints, authority: key.authority) {
        case .redirect(let location): return .redirect(to: location)
        case .info(let source, let base):
            return .load(
                PlannedLoad(
                    description: source, base, accept: key.accept, try request(for: source), try lists.listOfSize()))
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
            picture, canonical: canonical, try request(for: picture.source),
            try lists.list(for: picture, accept: key.accept))
    }

    /// The list that makes a source's ThumbHash, and its request.
    func hash(of source: String) throws -> (ImageRequest, ImagePipeline) {
        (try request(for: source), try lists.listOfHash())
    }

    private func request(for source: String) throws(Problem) -> ImageRequest {
        ImageRequest(try sources.source(source), expiry: .server(otherwise: .seconds(maxAge)))
    }
}

import HTTPTypes
import Hummingbird
import Stages
import Synchronization

/// What follows from a request's path and fields alone.
enum Plan: Sendable {
    case redirect(to: String)
    case load(PlannedLoad)
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

    /// Returns the plan for a request.
    /// - Throws: `Problem` for a path that is malformed, not signed or expired, or whose source isn't allowed; `LoadError`
    ///   for a list that can't run.
    func plan(for request: Request) throws -> Plan {
        try paths.check(request.uri.path, query: request.uri.query)
        let key = Key(request)
        if let plan = recent.withLock({ $0[key] }) {
            if case .load(let load) = plan { try paths.check(expires: load.expires) }
            return plan
        }
        let plan = try newPlan(for: key)
        recent.withLock { plans in
            if plans.count >= Self.maximumRecent { plans.removeAll() }
            plans[key] = plan
        }
        return plan
    }

    /// Whether a plan that is kept for the request has led to a result.
    func hasAnswered(_ request: Request) -> Bool {
        if case .load(let load) = recent.withLock({ $0[Key(request)] }) { load.hasAnswered } else { false }
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

import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages

@testable import PipelineHTTP

/// The origin of a simulated HTTP cache: a few paths, each with a picture or a redirect that changes from time to time.
final class SimulatedSite: Sendable {
    /// A request as the origin saw it, and what it replied.
    struct Exchange: Sendable {
        let number: Int
        let method: String
        let path: String
        /// The path, then the conditions.
        let asked: String
        let reply: ModelReply
    }

    /// What is at a path.
    private struct Page: Sendable {
        var kind = ModelReply.Kind.picture
        var terms = ModelReply.Terms()
        var version = 0
        var tag: ModelReply.Tag?
        var lastModified: Int?
        var hasDate = false
        /// How long before its arrival a reply was made, in seconds: a cache on the way had it.
        var lag = 0
        var age: Int?
    }

    private struct State {
        var pages: [String: Page] = [:]
        var counts: [String: Int] = [:]
        var number = 0
        var exchanges: [Exchange] = []
        /// Paths of which the origin is at fault until told otherwise, and how.
        var faults: [String: ModelReply.Kind] = [:]
        var wrong: Set<String> = []
        var isHolding = false
    }

    static let paths = ["/a", "/b", "/c", "/d", "/e"]

    private let seed: UInt64
    private let users: Scenario.Users
    private let state = Lock(State())

    init(seed: UInt64, users: Scenario.Users) {
        self.seed = seed
        self.users = users
    }

    /// The number that the next request gets, and that tells what happened before it.
    func nextNumber() -> Int {
        state.withLock { state in
            state.number += 1
            return state.number
        }
    }

    /// What was asked since this was last read.
    func takeExchanges() -> [Exchange] {
        state.withLock { state in
            defer { state.exchanges = [] }
            return state.exchanges
        }
    }

    /// Lets the origin fail for a path, or no longer.
    func fail(_ path: String, _ kind: ModelReply.Kind?) { state.withLock { $0.faults[path] = kind } }

    /// Lets the next condition for a path be answered with a 304 about something else.
    func answerWrongly(_ path: String) { state.withLock { _ = $0.wrong.insert(path) } }

    /// Holds the next request's reply back, or no longer.
    func holdNext(_ isHolding: Bool = true) { state.withLock { $0.isHolding = isHolding } }

    /// Puts something else at a path: a new version, or the same under new terms.
    func change(_ path: String, originTime: Int, by generator: inout SeededGenerator) {
        var page = state.withLock { $0.pages[path] } ?? Page()
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
        let isNew = page.version == 0 || chance(60)
        if isNew {
            page.version += 1
            page.kind = kind(path, &generator)
            page.tag =
                chance(60) ? ModelReply.Tag(text: "\(path.dropFirst())\(page.version)", isWeak: chance(30)) : nil
            page.lastModified =
                chance(40)
                ? originTime - ([100, 1000, 5000].randomElement(using: &generator) ?? 100) - page.version : nil
        }
        page.terms = terms(&generator)
        page.hasDate = chance(50) || page.terms.expires != nil
        page.lag = chance(20) ? Int.random(in: 1..<50, using: &generator) : 0
        page.age = chance(15) ? Int.random(in: 0..<40, using: &generator) : nil
        if page.kind == .gone { page.terms = ModelReply.Terms(noStore: true) }
        state.withLock { $0.pages[path] = page }
    }

    private func kind(_ path: String, _ generator: inout SeededGenerator) -> ModelReply.Kind {
        let later = Self.paths.filter { $0 > path }
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<25:
            guard let target = later.randomElement(using: &generator) else { return .picture }
            let status = [301, 302, 303, 307, 308].randomElement(using: &generator) ?? 302
            return .redirect(status: status, to: target)
        case 25..<30: return .gone
        default: return .picture
        }
    }

    private func terms(_ generator: inout SeededGenerator) -> ModelReply.Terms {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
        var terms = ModelReply.Terms()
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<2: break
        case 2: terms.expires = [-10, 0, 60, 600].randomElement(using: &generator)
        case 3: terms.maxAge = 0
        default: terms.maxAge = [10, 60, 600, 6000].randomElement(using: &generator)
        }
        terms.noCache = chance(8)
        terms.noStore = chance(8)
        terms.isPrivate = chance(25)
        terms.isPublic = !terms.isPrivate && chance(8)
        terms.mustRevalidate = chance(10)
        if chance(15) { terms.staleWhileRevalidate = [30, 300].randomElement(using: &generator) }
        if chance(15) { terms.staleIfError = [30, 300].randomElement(using: &generator) }
        if chance(users == .shared ? 20 : 5) { terms.sharedMaxAge = [0, 30, 300].randomElement(using: &generator) }
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<15: terms.vary = ["X-Theme"]
        case 15..<22: terms.vary = ["Accept-Language"]
        case 22..<27: terms.vary = ["X-Theme", "Accept-Language"]
        case 27..<30: terms.vary = ["*"]
        case 30..<36: terms.vary = ["Cookie"]
        default: break
        }
        return terms
    }

    /// Decides the reply to a request. What is by chance depends on the path and its count alone: requests for several
    /// paths may come in any order.
    func reply(to request: TransferRequest, originTime: Int) -> (reply: Scenario.Reply, isHeld: Bool) {
        let path = request.url.path()
        return state.withLock { state in
            state.number += 1
            state.counts[path, default: 0] += 1
            let count = state.counts[path, default: 0]
            var reply = page(path, request, count, originTime, &state)
            reply.serial = "\(path.dropFirst())-\(count)"
            let isHeld = state.isHolding
            state.isHolding = false
            state.exchanges.append(
                Exchange(
                    number: state.number, method: request.method.rawValue, path: path,
                    asked: ScenarioFields.describe(request), reply: reply))
            return (reply.scripted, isHeld)
        }
    }

    private func page(
        _ path: String, _ request: TransferRequest, _ count: Int, _ originTime: Int, _ state: inout State
    ) -> ModelReply {
        if request.method != .get {
            return ModelReply(kind: state.faults[path] == nil ? .picture : .serverError)
        }
        if let fault = state.faults[path] { return ModelReply(kind: fault) }
        let page = state.pages[path] ?? Page()
        var generator = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(count) &* 97 &+ UInt64(path.utf8.last ?? 0))
        let seconds = originTime
        var reply = ModelReply(
            kind: page.kind, terms: page.terms, tag: page.tag, lastModified: page.lastModified,
            date: page.hasDate ? seconds - page.lag : nil, age: page.age)
        let tags = request.headers[values: .ifNoneMatch]
        let date = request.headers[.ifModifiedSince].flatMap { HTTPDate.parse($0, now: ScenarioFields.start) }
            .map { Int($0.timeIntervalSince(ScenarioFields.start)) }
        guard !tags.isEmpty || date != nil else { return reply }
        if state.wrong.remove(path) != nil, !tags.isEmpty {
            // Of another version, which this one's tag never names.
            reply.kind = .notModified
            reply.tag = ModelReply.Tag(text: "other", isWeak: Bool.random(using: &generator))
            reply.lastModified = nil
            return reply
        }
        let isSame: Bool
        if tags.isEmpty {
            isSame = page.lastModified != nil && page.lastModified == date
        } else {
            isSame = tags.contains { $0.drop { $0 != "\"" } == page.tag.map { "\"\($0.text)\"" } ?? "" }
        }
        guard isSame, page.kind != .gone else { return reply }
        reply.kind = .notModified
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
            // It says nothing at all.
            reply.tag = nil
            reply.lastModified = nil
        case 1:
            reply.saysTerms = false
            reply.terms = ModelReply.Terms()
        default: break
        }
        return reply
    }
}

import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures

/// Runs a scenario through a front, over real caches in a folder that goes with it.
final class ScenarioWorld {
    /// A program with a cache of its own over the shared folder.
    private struct Program {
        let cache: HTTPCache
        let front: any ScenarioFront
    }

    private let scenario: Scenario
    private let kind: Scenario.Front
    private let folder: TemporaryFolder
    private let clock = ManualClock(now: ScenarioFields.start)
    private let pictures = ScenarioPictures()
    private let replies = Lock<[String: ArraySlice<Scenario.Reply>]>([:])
    private let origin: ScenarioOrigin
    private var programs: [String: Program] = [:]
    private var underWay: [String: Task<Scenario.Answer, Never>] = [:]

    /// - Parameter wire: what requests go over; `nil` for none.
    init(_ scenario: Scenario, _ kind: Scenario.Front, wire: ScenarioWire? = nil) throws {
        self.scenario = scenario
        self.kind = kind
        folder = try TemporaryFolder()
        let replies = replies
        origin = ScenarioOrigin(clock: clock, pictures: pictures, wire: wire) { request in
            let path = (request.url.host() == "example.com" ? "" : request.url.host() ?? "") + request.url.path()
            return replies.withLock { replies in
                guard let first = replies[path]?.first else { return .status(404) }
                if replies[path, default: []].count > 1 { replies[path]?.removeFirst() }
                return first
            }
        }
    }

    /// Runs the steps; gives what came otherwise than expected, as a text.
    func run() async -> String? {
        for (number, step) in scenario.steps.enumerated() {
            let difference = await run(step)
            // What follows a step happens after it.
            clock.advance(by: .milliseconds(10))
            if let difference { return "step \(number + 1), \(step): \(difference)" }
        }
        for program in programs.values { await program.cache.close() }
        return nil
    }

    private func run(_ step: Scenario.Step) async -> String? {
        switch step {
        case .serve(let path, let list): replies.withLock { $0[path] = list[...] }
        case .pass(let seconds):
            if seconds < 0 { clock.set(now: clock.now + seconds) } else { clock.advance(by: .seconds(seconds)) }
        case .get(let request, let expected, let asks):
            let program = program(request.program)
            let answer = await program.front.get(url(request.path), request)
            // What is held back would be waited for.
            if underWay.isEmpty { await program.front.settle() }
            return difference(answer, expected, asks)
        case .together(let count, let request, let expected, let asks):
            return await together(count, request, expected, asks)
        case .begin(let name, let request, let asks):
            let (front, url) = (program(request.program).front, url(request.path))
            underWay[name] = Task { [origin] in
                let answer = await front.get(url, request)
                origin.stopWaiting()
                return answer
            }
            await origin.arrivals(asks.count)
            return difference(nil, nil, asks)
        case .finish(let name, let expected, let asks):
            origin.release()
            guard let answer = await underWay.removeValue(forKey: name)?.value else {
                return "nothing of that name was begun"
            }
            for program in programs.values { await program.front.settle() }
            return difference(answer, expected, asks)
        case .send(let method, let request, let status, let asks):
            return await send(method, request, status, asks)
        case .remove(let path, let name): await program(name).front.remove(url(path))
        case .removeAll(let name): await program(name).front.removeAll()
        case .restart(let name): await programs.removeValue(forKey: name)?.cache.close()
        }
        return nil
    }

    private func together(
        _ count: Int, _ request: Scenario.Request, _ expected: Scenario.Answer, _ asks: [String]
    ) async -> String? {
        let (front, url) = (program(request.program).front, url(request.path))
        let answers = await withTaskGroup(of: Scenario.Answer.self) { group in
            for _ in 0..<count {
                group.addTask { [origin] in
                    let answer = await front.get(url, request)
                    origin.stopWaiting()
                    return answer
                }
            }
            await origin.arrivals(asks.count)
            origin.release()
            return await group.reduce(into: []) { $0.append($1) }
        }
        await front.settle()
        let wrong = answers.first { !$0.matches(expected) }
        return difference(wrong ?? expected, expected, asks)
    }

    private func send(
        _ method: String, _ request: Scenario.Request, _ status: Int, _ asks: [String]
    ) async -> String? {
        guard let method = HTTPRequest.Method(method) else { return "\(method) is not a method" }
        let client = CachingClient(cache: program(request.program).cache, client: origin)
        let answer = try? await client.send(
            CachingRequest(
                method: method, url: url(request.path), headers: ScenarioFields.parse(request.fields),
                partition: request.partition))
        guard answer?.status == status else { return "the status is \(answer.map { "\($0.status)" } ?? "none")" }
        return difference(nil, nil, asks)
    }

    private func difference(_ answer: Scenario.Answer?, _ expected: Scenario.Answer?, _ asks: [String]) -> String? {
        let asked = origin.takeAsked()
        if let answer, let expected, !answer.matches(expected) { return "gave \(answer), asked \(asked)" }
        return asked == asks ? nil : "gave \(answer.map { "\($0)" } ?? "nothing yet"), asked \(asked)"
    }

    private func program(_ name: String) -> Program {
        if let program = programs[name] { return program }
        let cache = HTTPCache.scenario(folder.path + "/cache", scenario.users, clock)
        let front: any ScenarioFront =
            switch kind {
            case .loader: LoaderFront(cache, origin, clock, pictures)
            case .cachingClient: CachingFront(client: CachingClient(cache: cache, client: origin), pictures: pictures)
            }
        let program = Program(cache: cache, front: front)
        programs[name] = program
        return program
    }

    private func url(_ path: String) -> URL {
        let text = path.hasPrefix("/") ? "http://example.com\(path)" : "http://\(path)"
        return URL(string: text) ?? URL(filePath: "/")
    }
}

extension HTTPCache {
    /// The cache of a scenario.
    static func scenario(_ folder: String, _ users: Scenario.Users, _ clock: ManualClock) -> HTTPCache {
        switch users {
        case .several: .test(folder, clock: clock)
        case .one: .test(folder, users: .one, clock: clock)
        case .shared: .test(folder, isShared: true, clock: clock)
        }
    }
}

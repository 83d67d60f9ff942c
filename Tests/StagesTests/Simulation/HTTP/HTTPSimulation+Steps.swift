import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineTesting

@testable import Stages

/// What the programs of a simulation do.
extension HTTPSimulation {
    /// A request by chance.
    func some() -> Request {
        var request = ModelRequest()
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4: break
        case 4..<6: request.credentials["Authorization"] = pick(["Bearer alice", "Bearer bob"])
        case 6..<8: request.credentials["Cookie"] = pick(["s=alice", "s=bob"])
        default: request.credentials["X-Api-Key"] = pick(["alice", "bob"])
        }
        if chance(40) { request.theme = pick(["dark", "light"]) }
        if chance(20) { request.language = pick(["de", "fr"]) }
        if chance(15) {
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: request.noCache = true
            case 1: request.pragma = true
            case 2: request.noStore = true
            case 3: request.onlyIfCached = true
            case 4: request.maxAge = pick([0, 5, 30])
            case 5: request.minFresh = pick([5, 50])
            default: request.maxStale = pick([50, 5000, .max])
            }
        }
        let program = Int.random(in: 0..<2, using: &generator)
        let isLoader =
            switch fronts {
            case .loaders: true
            case .clients: false
            case .one: program == 0
            case .mixed: Bool.random(using: &generator)
            }
        return Request(
            program: program, model: models.count > 1 ? program : 0, isLoader: isLoader,
            path: pick(SimulatedSite.paths), request: request)
    }

    private func send(_ request: Request) async -> Scenario.Answer {
        let front: any ScenarioFront =
            request.isLoader ? programs[request.program].loader : programs[request.program].client
        guard let url = URL(string: "http://example.com\(request.path)") else {
            return .init(content: .notCached, source: nil)
        }
        return await front.get(url, .init(path: request.path, fields: request.request.fields, program: ""))
    }

    private func settle() async {
        for program in programs {
            await program.loader.settle()
            await program.client.settle()
        }
    }

    func load(_ request: Request) async -> String? {
        let fault: ModelReply.Kind? = chance(16) ? pick([.serverError, .unreachable]) : nil
        let failing = fault == nil ? [] : chance(50) ? SimulatedSite.paths : [pick(SimulatedSite.paths)]
        for path in failing { site.fail(path, fault) }
        if chance(8) { site.answerWrongly(request.path) }
        let answer = await send(request)
        await settle()
        for path in failing { site.fail(path, nil) }
        return check(request, answer, site.takeExchanges(), failing: fault)
    }

    /// A request whose first reply is held back while other things happen.
    func hold(_ request: Request) async -> String? {
        let candidates = models[request.model].candidates(request.path, request.request, now: now)
        let asks = candidates.allSatisfy {
            let verdict = $0?.judge(request.request, now: now, isShared: users == .shared)
            return verdict?.mayBeGiven != true && verdict?.mayBeGivenWhileAsking != true
        }
        // Otherwise nothing may come to the origin, or in the background.
        guard asks, !request.request.onlyIfCached, !isInMemory(request) else { return await load(request) }
        let time = now
        _ = origin.takeAsked()
        site.holdNext()
        let sent = Lock<Scenario.Answer?>(nil)
        let (origin, front) = (origin, programs[request.program])
        let path = request.path
        let fields = request.request.fields
        let task = Task {
            let front: any ScenarioFront = request.isLoader ? front.loader : front.client
            guard let url = URL(string: "http://example.com\(path)") else { return }
            let answer = await front.get(url, .init(path: path, fields: fields, program: ""))
            sent.withLock { $0 = answer }
            origin.stopWaiting()
        }
        await origin.arrivals(1)
        let first = site.takeExchanges()
        guard !first.isEmpty else {
            site.holdNext(false)
            await task.value
            return "\(described(request)): nothing was asked"
        }
        _ = origin.takeAsked()
        note("\(described(request)) asks \(first.map(\.asked)), and is held back: \(first.map(\.reply))")
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            clock.advance(by: .milliseconds(13))
            if let difference = await meanwhile(request) {
                origin.release()
                await task.value
                return difference
            }
        }
        clock.advance(by: .milliseconds(13))
        origin.release()
        await task.value
        await settle()
        guard let answer = sent.withLock({ $0 }) else { return "no response came" }
        return check(request, answer, first + site.takeExchanges(), begun: (candidates, time), failing: nil)
    }

    /// What happens while a request is held back: nothing that would wait for it.
    private func meanwhile(_ held: Request) async -> String? {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
            clock.advance(by: .seconds(pick([1, 11, 61])))
            note("meanwhile time passes")
        case 1: return await invalidate(chance(70) ? held.path : pick(SimulatedSite.paths))
        default:
            var other = some()
            if chance(60) {
                // Past every flight and lease, to the same page.
                var same = held.request
                same.noCache = true
                same.pragma = false
                other = Request(
                    program: other.program, model: other.model, isLoader: other.isLoader, path: held.path,
                    request: same)
                if held.request.noCache { return nil }
                if chance(50) { change(held.path) }
            } else if other.path <= held.path {
                // A chain of it might lead to the page that is held back.
                return nil
            }
            let answer = await send(other)
            await settleBut(held)
            return check(other, answer, site.takeExchanges(), failing: nil)
        }
        return nil
    }

    /// Lets background work continue, except where that would wait for the one that is held back.
    private func settleBut(_ held: Request) async {
        for (number, program) in programs.enumerated() {
            await program.client.settle()
            if number != held.program || !held.isLoader {
                await program.loader.settle()
            } else {
                await program.loader.loader.resources.flights.refreshes.drain()
            }
        }
    }

    func invalidate(_ path: String) async -> String? {
        let number = Int.random(in: 0..<2, using: &generator)
        guard let url = URL(string: "http://example.com\(path)") else { return nil }
        let asked = site.nextNumber()
        if chance(50) {
            note("program \(number) removes \(path)")
            await programs[number].cache.remove(url: url)
        } else {
            let fails = chance(20)
            if fails { site.fail(path, .serverError) }
            note("program \(number) sends POST \(path), which \(fails ? "fails" : "succeeds")")
            _ = try? await programs[number].client.client.send(CachingRequest(method: .post, url: url))
            _ = site.takeExchanges()
            if fails {
                site.fail(path, nil)
                return nil
            }
        }
        let last = max(asked, site.nextNumber())
        for index in models.indices { models[index].invalidate(path, number: last, now: now) }
        memories = memories.filter { key, memory in
            !key.hasPrefix("\(number)") || !memory.hops.contains { $0.path == path }
        }
        return nil
    }
}

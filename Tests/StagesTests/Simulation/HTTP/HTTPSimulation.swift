import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures

/// One run of two programs that share a cache's folder, with several users, an origin whose pages change, faults,
/// invalidations and clocks that are set back: decided by a seed, and checked after every step against the model.
final class HTTPSimulation {
    /// A program: its cache object, both fronts over it, and what the model knows of its memory.
    struct Program {
        let cache: HTTPCache
        let loader: LoaderFront
        let client: CachingFront
    }

    struct Memory {
        let serial: String
        let hops: [ModelEntry]
    }

    struct Request {
        let program: Int
        /// Which of the models knows what the program's cache may give.
        let model: Int
        let isLoader: Bool
        let path: String
        let request: ModelRequest
    }

    /// Which fronts a seed's programs use.
    enum Fronts: Int, CaseIterable { case loaders, clients, one, mixed }

    private let seed: UInt64
    let users: Scenario.Users
    private let isMixed: Bool
    let fronts: Fronts
    private let folder: String
    let clock = ManualClock(now: ScenarioFields.start)
    private let pictures = ScenarioPictures()
    let site: SimulatedSite
    let origin: ScenarioOrigin
    var generator: SeededGenerator
    var programs: [Program] = []
    /// One for all programs, or one for each where a program of one user shares the folder with one of several.
    var models: [ModelCache]
    var memories: [String: Memory] = [:]
    private(set) var history: [String] = []
    var requests = 0
    var given = 0

    private init(seed: UInt64, folder: String) {
        self.seed = seed
        self.folder = folder
        users = [Scenario.Users.several, .one, .several, .one, .shared, .several][Int(seed % 6)]
        isMixed = seed % 6 == 5
        fronts = Fronts(rawValue: Int(seed / 6 % 4)) ?? .mixed
        generator = SeededGenerator(seed: seed)
        models = isMixed ? [ModelCache(.several), ModelCache(.one)] : [ModelCache(users)]
        let (site, clock) = (SimulatedSite(seed: seed, users: users), clock)
        self.site = site
        origin = ScenarioOrigin(clock: clock, pictures: pictures) { request in
            let (reply, isHeld) = site.reply(to: request, originTime: Int(clock.uptime.seconds))
            return isHeld ? reply.held : reply
        }
    }

    struct Report: Sendable, Equatable {
        /// What went against the rules, after the history up to there; `nil` for nothing.
        var difference: String?
        var history: [String]
        var requests: Int
        var given: Int
    }

    /// Runs a seed in a folder of its own.
    static func run(seed: UInt64, steps: Int = 24, folder: String) async -> Report {
        let simulation = HTTPSimulation(seed: seed, folder: folder + "/\(seed)")
        var difference: String?
        for path in SimulatedSite.paths { simulation.change(path) }
        simulation.programs = [simulation.program(0), simulation.program(1)]
        for _ in 0..<steps where difference == nil {
            difference = await simulation.step()
            // No two steps happen at the same time, and no age is a whole number of seconds.
            simulation.clock.advance(by: .milliseconds(13))
        }
        for program in simulation.programs { await program.cache.close() }
        TemporaryFolder.remove(simulation.folder)
        return Report(
            difference: difference, history: simulation.history, requests: simulation.requests,
            given: simulation.given)
    }

    private func program(_ number: Int) -> Program {
        let cache = HTTPCache.scenario(folder, isMixed && number == 1 ? .one : users, clock)
        return Program(
            cache: cache, loader: LoaderFront(cache, origin, clock, pictures),
            client: CachingFront(client: CachingClient(cache: cache, client: origin), pictures: pictures))
    }

    var now: Int { Int((clock.now.timeIntervalSince(ScenarioFields.start) * 1000).rounded()) }

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &generator)]
    }

    func note(_ text: String) { history.append("at \(now) ms: \(text)") }

    func change(_ path: String) {
        site.change(path, originTime: Int(clock.uptime.seconds), by: &generator)
    }

    private func step() async -> String? {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<62: return await load(some())
        case 62..<70: return await hold(some())
        case 70..<76:
            let path = pick(SimulatedSite.paths)
            change(path)
            note("\(path) changes")
        case 76..<88:
            let seconds = pick([1, 5, 11, 40, 61, 61, 120, 601])
            clock.advance(by: .seconds(seconds))
            note("\(seconds) s pass")
        case 88..<90:
            let seconds = pick([30, 3600, 100_000])
            clock.set(now: clock.now - Double(seconds))
            for index in models.indices { models[index].timesTellOrder = false }
            note("the clock is set back by \(seconds) s")
        case 90..<95: return await invalidate(pick(SimulatedSite.paths))
        case 95..<96:
            let number = Int.random(in: 0..<2, using: &generator)
            note("program \(number) removes all")
            await programs[number].loader.removeAll()
            for index in models.indices { models[index].removeAll() }
            memories = memories.filter { !$0.key.hasPrefix("\(number)") }
        default:
            let number = Int.random(in: 0..<2, using: &generator)
            note("program \(number) restarts")
            await programs[number].cache.close()
            programs[number] = program(number)
            memories = memories.filter { !$0.key.hasPrefix("\(number)") }
        }
        return nil
    }
}

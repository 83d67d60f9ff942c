import TestFixtures
import Testing

extension Scenario {
    /// All of them.
    static let all = freshness + confirmation + redirects + usersOfOne + users + changes + wishes
}

@Suite("One table of stories, told through both fronts", .inEachStore)
struct ScenarioTests {
    private static let throughLoader = Scenario.all.filter { $0.fronts.contains(.loader) }
    private static let throughClient = Scenario.all.filter { $0.fronts.contains(.cachingClient) }

    @Test("Through an ImageLoader whose list goes by HTTP's rules", .timeLimit(.minutes(5)), arguments: throughLoader)
    func loader(scenario: Scenario) async throws {
        let difference = try await ScenarioWorld(scenario, .loader).run()
        #expect(difference == nil)
    }

    @Test("Through CachingClient", .timeLimit(.minutes(5)), arguments: throughClient)
    func cachingClient(scenario: Scenario) async throws {
        let difference = try await ScenarioWorld(scenario, .cachingClient).run()
        #expect(difference == nil)
    }

    @Test(
        "Over real connections, both ways", .timeLimit(.minutes(5)), arguments: overTheWire, Scenario.Front.allCases)
    func wire(scenario: Scenario, front: Scenario.Front) async throws {
        let difference = try await ScenarioWorld(scenario, front, wire: ScenarioWire()).run()
        #expect(difference == nil)
    }

    /// One request at a time, to one host.
    private static let overTheWire = [
        "A response is given as long as max-age says, and then confirmed",
        "A 304 with another strong tag confirms nothing: the origin is asked once more without conditions",
        "A stored validator that can't be sent isn't, and the picture still loads",
        "A redirect that says no-store and has changed leads to the new picture",
        "A redirect has a tag of its own, and a 304 confirms it",
        "One user's redirect is nobody else's",
        "Where the origin can't be reached the stale response is given",
        "An unsafe request to a redirect's target makes that invalid, also in memory",
    ].compactMap { name in Scenario.all.first { $0.name == name } }

    @Test("The stories are many, have names of their own, and most are told through both")
    func extent() {
        #expect(Set(Scenario.all.map(\.name)).count == Scenario.all.count)
        #expect(Self.overTheWire.count == 8)
        #expect(Scenario.all.count { $0.fronts == Scenario.Front.allCases } >= 60)
    }
}

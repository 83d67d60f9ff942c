import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("A list in which a stage can never run is found when it is built")
struct ListCheckTests {
    private func problem(@ChainBuilder _ list: () -> Chain) throws -> LoadError {
        let chain = list()
        return try #require(throws: LoadError.self) { try ImagePipeline(validating: chain) }
    }

    @Test("A transform after the encoder")
    func transformAfter() throws {
        let error = try problem {
            Find()
            Paint()
            StubStage.giving("Encode", accepts: .decoded, .encoded(1), from: nil)
            Blur()
        }
        #expect(error.code == .stageContract)
        #expect(
            error.message == """
                Blur can never run: it accepts decoded, but where it stands a load is encoded. Move it or remove it. \
                The list is:
                Find
                Paint
                Encode
                Blur(1)
                """)
    }

    @Test("A transform after the encoder in a list that is trusted ends the program")
    func transformAfterEncoder() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ImagePipeline {
                StubStage.giving("Encode", .encoded(1))
                Blur()
            }
        }
        let message = try #require(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) })
        #expect(message.contains("Blur can never run: it accepts decoded, but where it stands a load is encoded."))
    }

    /// A stage with a cache.
    private struct Cached: Stage, ClockedStage {
        let accepts: Phases = .empty
        let cacheClock: (any LoadClock)?

        func run(_ load: inout Load) async throws -> Outcome { .miss }
    }

    @Test("A list takes the clock of its caches")
    func listTakes() throws {
        let clock = ManualClock()
        let list = Chain {
            Wrap { Cached(cacheClock: clock) }
            Cached(cacheClock: nil)
            Cached(cacheClock: clock)
        }
        #expect(try ImagePipeline(validating: list).clock as? ManualClock === clock)
        #expect(try ImagePipeline(validating: list, clock: clock).clock as? ManualClock === clock)
        #expect(ImagePipeline { list }.clock as? ManualClock === clock)
        #expect(ImagePipeline { Cached(cacheClock: nil) }.clock is SystemClock)
        #expect(ImagePipeline { Cached(cacheClock: SystemClock()) }.clock is SystemClock)
    }

    @Test("A list with another clock than that of a cache")
    func listAnother() throws {
        let clock = ManualClock()
        let list = Chain { Wrap { Cached(cacheClock: clock) } }
        for other in [SystemClock(), ManualClock()] as [any LoadClock] {
            let error = try #require(throws: LoadError.self) { try ImagePipeline(validating: list, clock: other) }
            #expect(error.code == .stageContract)
            #expect(error.message.hasPrefix("Cached would calculate wrong ages: its cache goes by another clock than"))
        }
        _ = try problem {
            Cached(cacheClock: clock)
            Cached(cacheClock: ManualClock())
        }
        // Also one that an edit puts there.
        let edited = try ImagePipeline(validating: list).inserting(Cached(cacheClock: SystemClock()), before: Wrap.self)
        #expect(edited.problem?.hasPrefix("Cached would calculate wrong ages") == true)
    }

    @Test("A list that is trusted and has another clock than a cache ends the program with the caller's line")
    func listTrusted()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ImagePipeline(clock: ManualClock()) { Cached(cacheClock: SystemClock()) }
        }
        let message = try #require(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) })
        #expect(message.contains(/PipelineTests\/ListCheckTests\.swift:[0-9]+: Cached would calculate wrong ages/))
    }

    @Test("A lookup after the fetch")
    func lookupAfter() throws {
        let error = try problem {
            Find()
            Look()
        }
        #expect(
            error.message.hasPrefix("Look can never run: it accepts empty, but where it stands a load is original."))
    }

    @Test("A stage in a body, where no load comes in the phases that it accepts")
    func stageBody() throws {
        let error = try problem {
            Find()
            Wrap {
                Paint()
                Look()
            }
        }
        #expect(error.message.hasPrefix("Look can never run: it accepts empty, but where it stands a load is decoded."))
    }

    @Test("A stage of a body whose composite takes in only part of what the body accepts")
    func stageBodyWhose() throws {
        let error = try problem {
            Find()
            Wrap {
                Look()
                Paint()
            }
        }
        #expect(error.message.hasPrefix("Look can never run"))
    }

    @Test("A stage that accepts nothing, and a composite with an empty body")
    func stageAccepts() throws {
        #expect(
            try problem { StubStage.missing("Idle", accepts: []) }.message.hasPrefix(
                "Idle can never run: it accepts nothing"))
        #expect(try problem { Wrap {} }.message.hasPrefix("Wrap can never run: it accepts nothing"))
    }

    @Test("A stage that may find something leaves the way open for the next, and for what follows a find")
    func stageMay() throws {
        let chain = Chain {
            Look()
            StubStage("Disk", accepts: .empty, produces: [.empty, .original]) { _ in .miss }
            Find()
            Paint()
            Keep()
            RecordingStage(accepts: .ready)
        }
        _ = try ImagePipeline(validating: chain)
        #expect(chain.accepts == .all.subtracting(.redirected))
        #expect(chain.outcomes(from: .empty) == .ready)
    }

    @Test("A stage that does not say what it produces may take a load anywhere")
    func stageDoes() throws {
        _ = try ImagePipeline(
            validating: Chain {
                StubStage("Nothing") { _ in .miss }
                Look()
                Find()
                Paint()
                Keep()
            })
    }

    @Test("An empty list is not a mistake")
    func emptyList() throws {
        #expect(try ImagePipeline(validating: Chain {}).description == "")
    }

    private struct ByKey: Stage {
        var accepts: Phases { .empty }
        var needsIdentity: Bool { true }
        func run(_ load: inout Load) async throws -> Outcome { .miss }
    }

    @Test("A stage that goes by the load's keys where no stage before it settles them")
    func stageGoes() throws {
        let resolve = StubStage("Resolve", produces: .empty, identifies: true) { _ in .done }
        let error = try problem {
            Wrap { ByKey() }
            resolve
        }
        #expect(error.code == .stageContract)
        #expect(error.message.hasPrefix("ByKey can never do its work"))
        #expect(error.message.contains("Put ResolveIdentifier() first."))
        _ = try ImagePipeline(
            validating: Chain {
                Wrap { resolve }
                Wrap { ByKey() }
            })
    }

    private struct Confirm: Stage {
        var accepts: Phases { .original }
        var needs: Set<ResponseState.Kind> { [.stale, .confirmed] }
        func run(_ load: inout Load) async throws -> Outcome { .done }
    }

    private struct Fetching: Stage {
        var accepts: Phases { .empty }
        var produces: Phases { .original }
        let leaves: Set<ResponseState.Kind>
        func run(_ load: inout Load) async throws -> Outcome { .miss }
    }

    @Test("A stage that needs a response that no stage before it leaves")
    func stageNeeds() throws {
        let error = try problem {
            Wrap { Fetching(leaves: [.fetched]) }
            Confirm()
        }
        #expect(error.code == .stageContract)
        #expect(
            error.message.hasPrefix(
                "Confirm can never do its work: it needs a response that is stale, confirmed, but where it stands the "
                    + "response is unknown, fetched."))
        _ = try ImagePipeline(
            validating: Chain {
                Wrap { Fetching(leaves: [.fetched, .confirmed]) }
                Wrap { Confirm() }
            })
    }

    @Test("A fetcher that does not say what it leaves may leave any response")
    func fetcherDoes() throws {
        _ = try ImagePipeline(
            validating: Chain {
                Find()
                Confirm()
            })
    }
}

import Pipeline
import PipelineTesting
import Testing

@Suite("A list in which a stage can never run is found when it is built")
struct ListCheckTests {
    private func problem(@ChainBuilder _ list: () -> Chain) throws -> LoadError {
        let chain = list()
        return try #require(throws: LoadError.self) { try ImagePipeline(validating: chain) }
    }

    @Test func `A transform after the encoder`() throws {
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

    @Test func `A transform after the encoder in a list that is trusted ends the program`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ImagePipeline {
                StubStage.giving("Encode", .encoded(1))
                Blur()
            }
        }
        let message = try #require(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) })
        #expect(message.contains("Blur can never run: it accepts decoded, but where it stands a load is encoded."))
    }

    @Test func `A lookup after the fetch`() throws {
        let error = try problem {
            Find()
            Look()
        }
        #expect(
            error.message.hasPrefix("Look can never run: it accepts empty, but where it stands a load is original."))
    }

    @Test func `A stage in a body, where no load comes in the phases that it accepts`() throws {
        let error = try problem {
            Find()
            Wrap {
                Paint()
                Look()
            }
        }
        #expect(error.message.hasPrefix("Look can never run: it accepts empty, but where it stands a load is decoded."))
    }

    @Test func `A stage of a body whose composite takes in only part of what the body accepts`() throws {
        let error = try problem {
            Find()
            Wrap {
                Look()
                Paint()
            }
        }
        #expect(error.message.hasPrefix("Look can never run"))
    }

    @Test func `A stage that accepts nothing, and a composite with an empty body`() throws {
        #expect(
            try problem { StubStage.missing("Idle", accepts: []) }.message.hasPrefix(
                "Idle can never run: it accepts nothing"))
        #expect(try problem { Wrap {} }.message.hasPrefix("Wrap can never run: it accepts nothing"))
    }

    @Test func `A stage that may find something leaves the way open for the next, and for what follows a find`() throws
    {
        let chain = Chain {
            Look()
            StubStage("Disk", accepts: .empty, produces: [.empty, .original]) { _ in .miss }
            Find()
            Paint()
            Keep()
            RecordingStage(accepts: .ready)
        }
        _ = try ImagePipeline(validating: chain)
        #expect(chain.accepts == .all)
        #expect(chain.outcomes(from: .empty) == .ready)
    }

    @Test func `A stage that does not say what it produces may take a load anywhere`() throws {
        _ = try ImagePipeline(
            validating: Chain {
                StubStage("Nothing") { _ in .miss }
                Look()
                Find()
                Paint()
                Keep()
            })
    }

    @Test func `An empty list is no mistake`() throws {
        #expect(try ImagePipeline(validating: Chain {}).description == "")
    }

    private struct ByKey: Stage {
        var accepts: Phases { .empty }
        var needsIdentity: Bool { true }
        func run(_ load: inout Load) async throws -> Outcome { .miss }
    }

    @Test func `A stage that goes by the load's keys where no stage before it settles them`() throws {
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

    @Test func `A stage that needs a response that no stage before it leaves`() throws {
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

    @Test func `A fetcher that does not say what it leaves may leave any response`() throws {
        _ = try ImagePipeline(
            validating: Chain {
                Find()
                Confirm()
            })
    }
}

import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("What a load knows of its response")
struct ResponseStateTests {
    /// Runs `work` as the first stage of a list, and gives the load as that leaves it.
    private func load(_ work: @escaping @Sendable (inout Load) -> Void) async throws -> Load {
        let seen = RecordingStage(accepts: .all)
        let pipeline = ImagePipeline {
            StubStage("Work") { load in
                work(&load)
                return .done
            }
            seen
            StubStage.giving("Answer", accepts: [.empty, .original], .ready())
        }
        _ = try await pipeline.load(.at())
        return try #require(seen.loads.first)
    }

    @Test("A delivered response and the load's original come in one step")
    func deliveredResponse() async throws {
        let load = try await load { $0.deliver(.test(body: 4)) }
        guard case .fetched(let exchange) = load.response, case .original(let image) = load.content else {
            Issue.record("The response is \(load.response).")
            return
        }
        #expect(exchange.body == image.bytes)
        #expect(image.declaredType == "image/jpeg")
        #expect(load.source == .network)
        #expect(load.storedOriginal == nil)
    }

    @Test("A 304 makes the stale response's body the original")
    func confirmation() async throws {
        let load = try await load { load in
            load.advance(response: .stale(.test(2), .expired))
            #expect(load.phase == .empty)
            #expect(load.storedOriginal == nil)
            load.deliver(.test(status: 304, body: 0))
        }
        guard case .confirmed(let stored, by: let update) = load.response else {
            Issue.record("The response is \(load.response).")
            return
        }
        #expect((stored.generation, update.status) == (2, 304))
        #expect(load.content.product?.cost == 5)
        #expect(load.source == .revalidated)
        #expect(load.storedOriginal?.generation == 2)
    }

    @Test("A fresh response brings the original from disk, or from where its stage says")
    func freshResponse() async throws {
        #expect(try await load { $0.advance(response: .fresh(.test(), .expired)) }.source == .disk)
        #expect(try await load { $0.advance(response: .fresh(.test(), .expired), from: .network) }.source == .network)
    }

    @Test("A stale response whose body is given all the same is the original's")
    func staleResponse() async throws {
        let load = try await load { load in
            load.isStale = true
            load.advance(response: .stale(.test(3), .expired))
            load.advance(to: .original(5), from: .disk)
        }
        #expect(load.storedOriginal?.generation == 3)
    }

    @Test("A delivered status that brings no image is the origin's error", arguments: [302, 304, 404, 500])
    func deliveredStatus(status: Int) async throws {
        let error = try await #require(throws: LoadError.self) {
            try await load { $0.deliver(.test(status: status)) }
        }
        #expect(error.code == .httpStatus)
        #expect(error.httpStatus == status)
        #expect(error.stage == "Work")
    }

    @Test("A response never goes back")
    func responseNever() async throws {
        let error = try await #require(throws: LoadError.self) {
            try await load { load in
                load.deliver(.test())
                load.advance(response: .stale(.test(), .expired))
            }
        }
        #expect(error.code == .stageContract)
        #expect(error.message.contains("the response of a load only moves forward"))
    }

    @Test("A fork begins with the load's response, and what it has found is adopted unless it is behind")
    func forkBegins()
        async throws
    {
        var load = try await load { $0.advance(response: .stale(.test(4), .expired)) }
        var fork = load.forked(events: nil)
        #expect(fork.response.stored?.generation == 4)
        let behind = fork
        fork.deliver(.test())
        load.adopt(fork)
        guard case .fetched = load.response else {
            Issue.record("The response is \(load.response).")
            return
        }
        load.adopt(behind)
        #expect(load.response.stored == nil)
    }

    @Test(
        "The validator is what stands between the tag's quotes",
        arguments: [("\"a\"", "a"), ("W/\"b c\"", "b c"), ("none", nil), (nil, nil)] as [(String?, String?)])
    func validatorStands(tag: String?, expected: String?) {
        #expect(StoredResponse.test(tag: tag).validator == expected)
    }

    @Test("Bytes, media type, lifetime and validator make a response")
    func bytesMedia() throws {
        let url = try #require(URL(string: "table:///cat"))
        let exchange = HTTPExchange(
            url: url, bytes: [1], mediaType: "image/png", lifetime: .milliseconds(90_500), validator: "7",
            at: .distantPast)
        #expect(exchange.status == 200)
        #expect(exchange.headers == [.contentType: "image/png", .cacheControl: "max-age=90", .eTag: "\"7\""])
        #expect(exchange.body == [1])
        let same = HTTPExchange(url: url, bytes: nil, lifetime: .seconds(-1), at: .distantPast)
        #expect(same.status == 304)
        #expect(same.headers == [.cacheControl: "max-age=0"])
        #expect(same.body.isEmpty)
    }
}

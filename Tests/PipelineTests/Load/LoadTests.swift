import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("What a load carries")
struct LoadTests {
    private struct Note: LoadAttachment, Equatable { var text: String }
    private struct Count: LoadAttachment, Equatable { var number: Int }

    /// A load as the first stage of a list sees it.
    private func load(
        clock: ManualClock = ManualClock(), events: (@Sendable (LoadEvent) -> Void)? = nil
    ) async throws -> Load {
        let seen = RecordingStage(accepts: .empty)
        let pipeline = ImagePipeline(clock: clock) {
            seen
            StubStage.giving("Answer", .ready())
        }
        _ = try await pipeline.load(.at(), events: events)
        return try #require(seen.loads.first)
    }

    @Test("It begins with nothing")
    func beginsNothing() async throws {
        let load = try await load()
        #expect(load.phase == .empty)
        #expect(load.content.product == nil)
        #expect(load.source == nil)
        #expect(load.response.stored == nil)
        #expect(!load.isStale)
        #expect(!load.isWatched)
        #expect(load.attachment(Note.self) == nil)
        #expect(load.subject == "https://example.com/cat.jpg")
    }

    @Test("An attachment is found by its type and replaced by a later one")
    func attachmentFound() async throws {
        var load = try await load()
        load.attach(Note(text: "first"))
        load.attach(Count(number: 1))
        load.attach(Note(text: "second"))
        #expect(load.attachment(Note.self) == Note(text: "second"))
        #expect(load.attachment(Count.self) == Count(number: 1))
    }

    @Test("A copy is a load of its own")
    func copyLoad() async throws {
        var load = try await load()
        let copy = load
        load.attach(Note(text: "mine"))
        load.advance(to: .original(), from: .disk)
        #expect(copy.phase == .empty)
        #expect(copy.attachment(Note.self) == nil)
    }

    @Test("Restarting takes everything back but the trace")
    func restartingTakes() async throws {
        let restarted = RecordingStage("Seen", accepts: .empty)
        let pipeline = ImagePipeline {
            StubStage("Before", accepts: .empty, produces: .empty) { load in
                load.attach(Note(text: "before"))
                return .done
            }
            TwiceOnFailure {
                restarted
                StubStage("Spoil", accepts: .empty) { load in
                    guard restarted.loads.count == 1 else { return .skipped }
                    load.attach(Note(text: "spoilt"))
                    load.isStale = true
                    load.deliver(.test())
                    return .hit
                }
                StubStage.failing("Fail", accepts: .original, LoadError(.undecodable, subject: "", "No image."))
                StubStage.giving("Fetch", .ready())
            }
        }
        let response = try await pipeline.load(.at())
        let second = try #require(restarted.loads.last)
        #expect(restarted.loads.count == 2)
        #expect(second.phase == .empty)
        #expect(second.source == nil)
        #expect(second.response.kind == .unknown)
        #expect(!second.isStale)
        #expect(second.attachment(Note.self) == Note(text: "before"))
        #expect(response.source == .network)
        #expect(
            response.trace.summary
                == "Before done, Seen done, Spoil hit, Fail failed, Seen done, Fetch done")
    }

    @Test("A fork has all that the load has found, and an audience of its own")
    func forkLoad() async throws {
        let told = Lock([String]())
        var load = try await load(events: { _ in told.withLock { $0.append("load") } })
        let key = SourceKey(digest: BLAKE2bDigest(of: "cat"))
        load.identify(as: key)
        load.attach(Note(text: "mine"))
        load.deliver(.test(body: 9), from: .disk)
        load.isStale = true

        let fork = load.forked(events: { _ in told.withLock { $0.append("fork") } })
        #expect(fork.phase == .original)
        #expect(fork.content.product?.cost == 9)
        #expect(fork.source == .disk)
        #expect(fork.sourceKey == key)
        #expect(fork.variantKey == load.variantKey)
        #expect(fork.response.kind == .fetched)
        #expect(fork.isStale)
        #expect(fork.attachment(Note.self) == Note(text: "mine"))
        #expect(fork.request == load.request)
        fork.report(.sendingRequest(hadCachedImage: false))
        load.report(.sendingRequest(hadCachedImage: false))
        #expect(told.withLock { $0 } == ["fork", "load"])
        load.forked().report(.sendingRequest(hadCachedImage: false))
        #expect(told.withLock { $0 } == ["fork", "load", "load"])
        #expect(!load.forked(events: nil).isWatched)
    }

    @Test("Adopting takes over what the fork found, attached and settled")
    func adoptingTakes() async throws {
        var load = try await load()
        load.attach(Note(text: "mine"))
        load.attach(Count(number: 1))
        var fork = load.forked(events: nil)
        let key = SourceKey(digest: BLAKE2bDigest(of: "cat"))
        fork.identify(as: key)
        fork.attach(Note(text: "the fork's"))
        fork.deliver(.test())
        fork.isStale = true
        fork.advance(to: .decoded(3), from: .network)
        load.adopt(fork)
        #expect(load.phase == .decoded)
        #expect(load.source == .network)
        #expect(load.sourceKey == key)
        #expect(load.variantKey == fork.variantKey)
        #expect(load.response.kind == .fetched)
        #expect(load.isStale)
        #expect(load.attachment(Note.self) == Note(text: "the fork's"))
        #expect(load.attachment(Count.self) == Count(number: 1))
    }

    @Test("A fork that found nothing leaves what the load has")
    func forkFound() async throws {
        var load = try await load()
        let fork = load.forked(events: nil)
        load.advance(to: .original(5), from: .disk)
        load.adopt(fork)
        #expect(load.phase == .original)
        #expect(load.source == .disk)
    }

    @Test("Pixels that a fork transformed are taken over")
    func pixelsFork() async throws {
        struct Shrink: Transform {
            let signature: String? = "shrink"
            func apply(_ image: DecodedImage) async throws -> DecodedImage { .filled(1) }
        }
        let pipeline = ImagePipeline {
            StubStage.giving("Find", .decoded(8))
            Parallel { Shrink() }
        }
        #expect(try await pipeline.load(.at()).size == 1)
    }

    @Test("An observer is told, in the order in which stages report")
    func observerTold() async throws {
        let told = Lock([Int]())
        let pipeline = ImagePipeline {
            StubStage("Report", accepts: .empty) { load in
                #expect(load.isWatched)
                for received in 1...3 { load.report(.progress(received: received, expected: 3)) }
                load.advance(to: .original(), from: .network)
                return .done
            }
        }
        _ = try await pipeline.load(.at()) { event in
            if case .progress(let received, 3) = event { told.withLock { $0.append(received) } }
        }
        #expect(told.withLock { $0 } == [1, 2, 3])
    }

    @Test("The response says what there is to know")
    func responseSays() async throws {
        let pipeline = ImagePipeline {
            StubStage("Find", accepts: .empty) { load in
                load.isStale = true
                let bytes = EncodedImage(bytes: [1, 2], size: 20, nativeSize: 40)
                load.advance(to: .encoded(bytes), from: .disk)
                return .hit
            }
        }
        let response = try await pipeline.load(.at())
        #expect(response.isStale)
        #expect(response.source == .disk)
        #expect(response.encoded?.bytes == [1, 2])
        #expect(response.image == nil)
        #expect(response.size == 20)
        #expect(response.nativeSize == 40)
        #expect(response.sourceKey == nil)
    }
}

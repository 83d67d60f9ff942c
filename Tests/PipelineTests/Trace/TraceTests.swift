import Essentials
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("The trace")
struct TraceTests {
    private let clock = ManualClock()

    private func taking(_ duration: Duration, _ name: String, accepts: Phases = .empty) -> StubStage {
        StubStage(name, accepts: accepts, produces: accepts) { [clock] _ in
            clock.advance(by: duration)
            return .done
        }
    }

    @Test("What expired within the last second expired just now")
    func expiredWithin() {
        #expect(Trace.Fact.expired(for: .milliseconds(400)).description == "expired just now")
        #expect(Trace.Fact.expired(for: .seconds(40)).description == "expired 40 s ago")
    }

    @Test("Each entry has its start and its duration")
    func entryStart() async throws {
        let pipeline = ImagePipeline(clock: clock) {
            taking(.milliseconds(2), "First")
            taking(.milliseconds(30), "Second")
            StubStage.giving("Answer", .ready())
        }
        let entries = try await pipeline.load(.at()).trace.entries
        #expect(entries.map(\.start) == [.zero, .milliseconds(2), .milliseconds(32)])
        #expect(entries.map(\.duration) == [.milliseconds(2), .milliseconds(30), .zero])
    }

    @Test("A composite's time includes its body's, which stands deeper")
    func compositeTime() async throws {
        let pipeline = ImagePipeline(clock: clock) {
            taking(.milliseconds(1), "Before")
            Wrap {
                taking(.milliseconds(10), "Inner")
                Wrap { taking(.milliseconds(100), "Innermost") }
            }
            StubStage.giving("Answer", .ready())
        }
        let entries = try await pipeline.load(.at()).trace.entries
        #expect(entries.map(\.stage) == ["Before", "Wrap", "Inner", "Wrap", "Innermost", "Answer"])
        #expect(entries.map(\.depth) == [0, 0, 1, 1, 2, 0])
        #expect(entries.map(\.duration) == [1, 110, 10, 100, 100, 0].map { .milliseconds($0) })
        #expect(entries.map(\.start) == [0, 1, 1, 11, 11, 111].map { .milliseconds($0) })
    }

    @Test("Bytes are noted where a stage changed what the load carries")
    func bytesNoted() async throws {
        let pipeline = ImagePipeline(clock: clock) {
            StubStage.missing("Look")
            StubStage.giving("Fetch", .original(5))
            StubStage.idle("Watch", accepts: .original)
            StubStage.giving("Rewrite", accepts: .original, .original(4), from: nil)
            StubStage.giving("Paint", accepts: .original, .decoded(3), from: nil)
            Blur()
        }
        let entries = try await pipeline.load(.at()).trace.entries
        #expect(entries.map(\.stage) == ["Look", "Fetch", "Watch", "Rewrite", "Paint", "Blur"])
        #expect(entries.map(\.bytes) == [nil, 5, nil, 4, 9, 9])
    }

    @Test("Keys and notes belong to the stage that wrote them")
    func keysNotes() async throws {
        let key = Trace.Key.source(SourceKey(digest: BLAKE2bDigest(of: "cat")))
        let pipeline = ImagePipeline(clock: clock) {
            Wrap {
                StubStage("Inner", accepts: .empty, produces: .empty) { load in
                    load.note("inner")
                    return .done
                }
            }
            StubStage("Key", accepts: .empty, produces: .empty) { load in
                load.note(key: key)
                return .done
            }
            NotingAfterItsBody { StubStage.missing("Body") }
            StubStage.giving("Answer", .ready())
        }
        let entries = try await pipeline.load(.at()).trace.entries
        #expect(entries.map(\.stage) == ["Wrap", "Inner", "Key", "NotingAfterItsBody", "Body", "Answer"])
        #expect(entries.map(\.note) == [nil, "inner", nil, "after", nil, nil])
        #expect(entries.map(\.key) == [nil, nil, key, nil, nil, nil])
    }

    @Test("A body that ran twice shows both runs")
    func bodyRan() async throws {
        let attempts = RecordingStage("Count", accepts: .empty)
        let pipeline = ImagePipeline(clock: clock) {
            TwiceOnFailure {
                attempts
                StubStage("Flaky", accepts: .empty) { load in
                    guard attempts.loads.count > 1 else {
                        throw LoadError(.unreachable, subject: load.subject, "Not this time.")
                    }
                    load.advance(to: .ready(), from: .network)
                    return .done
                }
            }
        }
        let trace = try await pipeline.load(.at()).trace
        #expect(trace.summary == "Count done, Flaky failed, Count done, Flaky done")
        #expect(trace.entries.map(\.depth) == [0, 1, 1, 1, 1])
    }

    @Test("A fork's entries are adopted as the running stage's body, at their own times")
    func forkEntries() async throws {
        let pipeline = ImagePipeline(clock: clock) {
            taking(.milliseconds(5), "Before")
            Parallel {
                taking(.milliseconds(7), "Inner")
                StubStage.giving("Answer", .ready())
            }
        }
        let entries = try await pipeline.load(.at()).trace.entries
        #expect(entries.map(\.stage) == ["Before", "Parallel", "Inner", "Answer"])
        #expect(entries.map(\.depth) == [0, 0, 1, 1])
        #expect(entries.map(\.start) == [0, 5, 5, 12].map { .milliseconds($0) })
        #expect(entries.map(\.duration) == [5, 7, 7, 0].map { .milliseconds($0) })
    }

    @Test("A stage in a body begins when it is called, not when its composite is")
    func stageBody() async throws {
        let pipeline = ImagePipeline(clock: clock) {
            Waiting(clock: clock) { taking(.milliseconds(3), "Inner") }
            StubStage.giving("Answer", .ready())
        }
        let entries = try await pipeline.load(.at()).trace.entries
        #expect(entries.map(\.stage) == ["Waiting", "Inner", "Answer"])
        #expect(entries.map(\.start) == [0, 20, 23].map { .milliseconds($0) })
        #expect(entries.map(\.duration) == [23, 3, 0].map { .milliseconds($0) })
    }

    @Test("It prints as a table")
    func printsTable() async throws {
        let key = SourceKey(digest: BLAKE2bDigest(of: "cat"))
        let pipeline = ImagePipeline(clock: clock) {
            StubStage("MemoryLookup", accepts: .empty, produces: .empty) { load in
                load.note(key: .source(key))
                load.note("expired 40 s ago")
                return .miss
            }
            Wrap { taking(.microseconds(1500), "Delay") }
            StubStage.giving("Fetch", .original(5))
        }
        let trace = try await pipeline.load(.at()).trace
        #expect(
            trace.description == """
                MemoryLookup  miss        0.000 ms  key \(key.description.prefix(12))  (expired 40 s ago)
                Wrap          done        1.500 ms
                  Delay       done        1.500 ms
                Fetch         done        0.000 ms  5 bytes
                """)
    }

    @Test("Its summary leaves out composites and stages that had nothing to do")
    func summaryLeaves() async throws {
        let pipeline = ImagePipeline(clock: clock) {
            StubStage("MemoryLookup", accepts: .empty, produces: .empty) { _ in .miss }
            Wrap {
                StubStage("ReadFile", accepts: .empty, produces: .empty) { _ in .skipped }
                taking(.microseconds(1500), "Delay")
            }
            StubStage.giving("Fetch", .original(5))
        }
        #expect(try await pipeline.load(.at()).trace.summary == "MemoryLookup miss, Delay done, Fetch done")
    }

    /// A composite that takes its time before it runs its body.
    private struct Waiting: CompositeStage {
        let clock: ManualClock
        var body: Chain

        init(clock: ManualClock, @ChainBuilder _ body: () -> Chain) {
            self.clock = clock
            self.body = body()
        }

        func run(_ load: inout Load) async throws -> Outcome {
            clock.advance(by: .milliseconds(20))
            try await body.run(&load)
            return .done
        }
    }

    private struct NotingAfterItsBody: CompositeStage {
        var body: Chain

        init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

        func run(_ load: inout Load) async throws -> Outcome {
            try await body.run(&load)
            load.note("after")
            return .done
        }
    }
}

import Foundation
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@testable import Stages

/// A user's value that comes back to the flights when it is released.
private final class Reentrant: LoadAttachment, Error {
    private let flights: Flights
    private let released: Counter

    init(_ flights: Flights, _ released: Counter) {
        self.flights = flights
        self.released = released
    }

    deinit {
        HeldLocks.requireNone()
        _ = flights.count
        released.increment()
    }
}

@Suite("Values of users that flights release", .timeLimit(.minutes(5)))
struct FlightReleaseTests {
    /// How the last reference to a result is given up.
    enum WayOut: CaseIterable {
        case waits, leaves, cancelAll, removeAll
    }

    private let flights = Flights()
    private let gate = Gate()
    private let released = Counter()

    /// A list whose fetch attaches a user's value, and fails with one where that is wanted.
    private func pipeline(fails: Bool = false) -> ImagePipeline {
        ImagePipeline { [flights, gate, released] in
            ResolveIdentifier()
            Coalesce(flights, by: .variant) {
                Coalesce(flights, by: .source) {
                    StubStage("Fetch") { load in
                        try await gate.wait()
                        load.attach(Reentrant(flights, released))
                        if fails { throw Reentrant(flights, released) }
                        load.advance(to: .original(EncodedImage(bytes: [1])), from: .network)
                        return .done
                    }
                }
                StubStage("Decode", accepts: .original) { load in
                    load.advance(to: .decoded(.filled(9)))
                    return .done
                }
                Store(nil, nil)
            }
        }
    }

    private var request: ImageRequest { ImageRequest(.dataURL("a")) }

    @Test("A load releases the values that its stages attached, or failed with, outside of every lock")
    func alone() async throws {
        gate.open()
        for fails in [false, true] { _ = try? await pipeline(fails: fails).load(request) }
        await flights.drain()
        #expect(released.value == 3)
        #expect(flights.isForgotten)
    }

    @Test(
        """
        A load that has joined and doesn't wait yet when the result is there may hold the last reference to it: it is \
        released outside of every lock, however the load continues
        """, arguments: WayOut.allCases, [false, true])
    func joinedOnly(way: WayOut, fails: Bool) async throws {
        let pipeline = pipeline(fails: fails)
        let first = Task { [request] in _ = try? await pipeline.load(request) }
        await flights.reaches(waiters: 2)

        let (joined, mayGoOn) = (Gate(), Barrier())
        // On a thread of its own, since its observer blocks.
        let task = Task(executorPreference: ThreadExecutor()) { [request] in
            _ = try? await pipeline.load(request) { event in
                guard case .joined(fetchOnly: false) = event else { return }
                joined.open()
                mayGoOn.wait()
            }
        }
        try await joined.wait()
        gate.open()
        await first.value

        switch way {
        case .waits: break
        case .leaves: task.cancel()
        case .cancelAll: await flights.cancelAll()
        case .removeAll:
            let folder = NSTemporaryDirectory() + "pipeline-tests-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let loader = ImageLoader(
                PipelineResources(
                    memory: MemoryCache(), responses: HTTPCache(folder: folder), flights: flights,
                    client: CurlClient()))
            await loader.removeAll()
        }
        mayGoOn.open()
        await task.value
        await flights.drain()
        #expect(released.value == (fails ? 2 : 1))
        #expect(flights.isForgotten)
    }

    @Test("Where a flight fails several times, the errors that later ones replace are released outside of every lock")
    func replacedErrors() async throws {
        let released = released
        @Sendable func failing(_ flights: Flights) -> LoadEvent {
            .requestCompleted(
                source: nil,
                error: LoadError(.stageFailed, subject: "", "No.", underlying: Reentrant(flights, released)))
        }
        let record = ImageTaskRecord()
        for _ in 0..<3 { record.take(failing(flights)) }
        record.end(.failure(CancellationError()))
        let pipeline = ImagePipeline { [flights] in
            ResolveIdentifier()
            FirstOf {
                StubStage("First", produces: [.empty, .ready]) { load in
                    load.report(failing(flights))
                    load.report(failing(flights))
                    return .skipped
                }
            }
        }
        await #expect(throws: LoadError.self) { try await pipeline.load(request) { _ in } }
        #expect(released.value >= 4)
    }

    @Test("A priority's follower that was the last to hold something releases it outside of every lock")
    func follower() {
        let priority = AdjustablePriority(.low)
        var value: Reentrant? = Reentrant(flights, released)
        let number = priority.follow { [value] _ in withExtendedLifetime(value) {} }
        value = nil
        priority.unfollow(number)
        #expect(released.value == 1)
    }

    @Test("Work that is refused is released outside of every lock")
    func refusedWork() async throws {
        let threads = BlockingThreads(name: "test", count: 1)
        let (barrier, began) = (Barrier(), Counter())
        async let blocker: Void = threads.run { _ in
            began.increment()
            barrier.wait()
        }
        await began.reaches(1)
        let task = Task { [flights, released] in
            let value = Reentrant(flights, released)
            try await threads.run { _ in withExtendedLifetime(value) {} }
        }
        while threads.waiting < 1 { await Task.yield() }
        task.cancel()
        _ = try? await task.value
        barrier.open()
        try await blocker
        #expect(released.value == 1)
    }
}

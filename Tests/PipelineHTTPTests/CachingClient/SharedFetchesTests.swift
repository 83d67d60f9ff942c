import Essentials
import HTTPTypes
import Pipeline
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("The priority of a fetch that requests share", .timeLimit(.minutes(5)))
struct SharedFetchesTests {
    private let fetches = SharedFetches()
    private let key: SharedFetches.Key

    init() throws {
        let url = try #require(URL(string: "http://a.example/"))
        key = .init(source: try #require(SourceKey(ImageRequest(url))), headers: [:])
    }

    private func leader(_ priority: LoadPriority) async throws -> SharedFetches.Ticket {
        guard case .leads(let ticket) = try await fetches.enter(key, priority: priority) else {
            throw LoadError(.stageContract, subject: "", "Another fetch is under way.")
        }
        return ticket
    }

    /// Waits until the fetch has a priority.
    private func wait(for priority: LoadPriority, of ticket: SharedFetches.Ticket) async {
        let gate = Gate()
        let number = ticket.priority.follow { if $0 == priority { gate.open() } }
        if ticket.priority.value == priority { gate.open() }
        try? await gate.wait()
        ticket.priority.unfollow(number)
    }

    @Test("is the highest of them, and goes with the one that leaves")
    func highest() async throws {
        let ticket = try await leader(.veryLow)
        let waiter = Task { try await fetches.enter(key, priority: .veryHigh) }
        await wait(for: .veryHigh, of: ticket)
        let another = Task { try await fetches.enter(key, priority: .normal) }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        await wait(for: .normal, of: ticket)
        fetches.end(ticket, .stored)
        guard case .waited(.stored) = try await another.value else {
            Issue.record("It should have waited.")
            return
        }
    }

    @Test("changes with that of a task which waits, and with its own")
    func adjusted() async throws {
        let own = AdjustablePriority(.low)
        let ticket = try await AdjustablePriority.$inherited.withValue(own) { try await leader(.veryLow) }
        #expect(ticket.priority.value == .low)
        try await AdjustablePriority.$inherited.withValue(own) {
            await fetches.lead(ticket) {
                #expect(AdjustablePriority.current === ticket.priority)
                own.set(.normal)
                #expect(ticket.priority.value == .normal)
            }
            try await adjustWaiter(ticket)
        }
    }

    private func adjustWaiter(_ ticket: SharedFetches.Ticket) async throws {
        let adjustable = AdjustablePriority(.normal)
        let waiter = Task {
            try await AdjustablePriority.$inherited.withValue(adjustable) {
                try await fetches.enter(key, priority: .low)
            }
        }
        adjustable.set(.high)
        await wait(for: .high, of: ticket)
        adjustable.set(.veryHigh)
        await wait(for: .veryHigh, of: ticket)
        fetches.end(ticket, .notShared)
        _ = try await waiter.value
    }
}

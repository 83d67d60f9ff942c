import Essentials
import Pipeline
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("The queue of transfers")
struct CurlQueueTests {
    private let thread = CurlThread(options: .local)

    private func transfer(_ host: String, _ priority: LoadPriority = .normal) throws -> CurlTransfer {
        let url = try #require(URL(string: "http://\(host)/"))
        return CurlTransfer(
            TransferRequest(url: url, priority: priority), target: try CurlURL(url), deadline: nil, thread: thread)
    }

    // Expectations can't call what changes a value.
    private func next(_ queue: inout CurlQueue) -> CurlTransfer? { queue.next() }
    private func remove(_ transfer: CurlTransfer, _ queue: inout CurlQueue) -> Bool { queue.remove(transfer) }

    @Test("Priority counts across hosts, then the order of arrival")
    func order() throws {
        var queue = CurlQueue(maximumPerHost: 10, maximum: 10)
        let transfers = try [
            transfer("a", .low), transfer("b", .high), transfer("a", .high), transfer("c", .veryLow),
            transfer("b", .low),
            transfer("c", .veryHigh),
        ]
        for transfer in transfers { queue.append(transfer) }
        var started: [Int?] = []
        while let next = queue.next() { started.append(transfers.firstIndex { $0 === next }) }
        #expect(started == [5, 1, 2, 0, 4, 3])
    }

    @Test("A host at its limit is passed over, the limit on all is not, and what ends makes room")
    func limits() throws {
        var queue = CurlQueue(maximumPerHost: 1, maximum: 2)
        let a1 = try transfer("a", .veryHigh)
        let a2 = try transfer("a", .veryHigh)
        let b = try transfer("b")
        let c = try transfer("c")
        for transfer in [a1, a2, b, c] { queue.append(transfer) }
        #expect(next(&queue) === a1)
        #expect(next(&queue) === b)
        #expect(next(&queue) == nil)
        queue.release(b)
        #expect(next(&queue) === c)
        queue.release(a1)
        #expect(next(&queue) === a2)
    }

    @Test("A host that speaks HTTP/2 takes a hundred at once on its connection")
    func sharing() throws {
        var queue = CurlQueue(maximumPerHost: 1, maximum: 1000)
        let first = try transfer("a")
        queue.append(first)
        for _ in 0..<150 { queue.append(try transfer("a")) }
        #expect(next(&queue) === first)
        #expect(next(&queue) == nil)
        queue.sharesConnection(first)
        for _ in 1..<100 { #expect(next(&queue) != nil) }
        #expect(next(&queue) == nil)
    }

    @Test("What is removed does not start, and can be removed but once")
    func removal() throws {
        var queue = CurlQueue(maximumPerHost: 1, maximum: 1)
        let a = try transfer("a")
        let b = try transfer("a")
        queue.append(a)
        queue.append(b)
        #expect(remove(a, &queue))
        #expect(!remove(a, &queue))
        #expect(next(&queue) === b)
        #expect(!remove(b, &queue))
        let rest = queue.removeAll()
        #expect(rest.isEmpty)
    }
}

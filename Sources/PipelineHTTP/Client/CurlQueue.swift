import DequeModule
import Pipeline

/// Transfers that wait until a connection may be opened for them: highest priority first, then in order of arrival.
struct CurlQueue {
    private struct Line {
        var waiting: [Deque<(number: Int, transfer: CurlTransfer)>] = LoadPriority.allCases.map { _ in [] }
        var running = 0
        var sharesConnections = false

        /// The one to start next, by priority and then number.
        var first: (priority: Int, number: Int)? {
            for priority in waiting.indices.reversed() {
                if let first = waiting[priority].first { return (priority, first.number) }
            }
            return nil
        }
    }

    /// How many streams HTTP/2 servers commonly take on one connection (RFC 9113 section 6.5.2 advises at least 100).
    private static let maximumStreams = 100

    private let maximumPerHost: Int
    private let maximum: Int
    private var lines: [Host: Line] = [:]
    private var running = 0
    private var waiting = 0
    private var lastNumber = 0

    private struct Host: Hashable {
        let scheme: String
        let host: String
        let port: Int
        let hasOwnConnection: Bool

        init(_ transfer: CurlTransfer) {
            scheme = transfer.target.scheme
            host = transfer.target.host
            port = transfer.target.port
            hasOwnConnection = transfer.request.needsBackPressure
        }
    }

    init(maximumPerHost: Int, maximum: Int) {
        self.maximumPerHost = max(1, maximumPerHost)
        self.maximum = max(1, maximum)
    }

    mutating func append(_ transfer: CurlTransfer) {
        lastNumber += 1
        waiting += 1
        lines[Host(transfer), default: Line()].waiting[Int(transfer.request.priority.rawValue)]
            .append((lastNumber, transfer))
    }

    /// The transfer that may start now, which counts as running from then on; `nil` if none may.
    mutating func next() -> CurlTransfer? {
        guard waiting > 0, running < maximum else { return nil }
        var best: (host: Host, priority: Int, number: Int)?
        for (host, line) in lines where line.running < limit(line) {
            guard let first = line.first else { continue }
            if let found = best, (found.priority, -found.number) > (first.priority, -first.number) { continue }
            best = (host, first.priority, first.number)
        }
        guard let best, let transfer = lines[best.host]?.waiting[best.priority].popFirst()?.transfer else { return nil }
        lines[best.host]?.running += 1
        running += 1
        waiting -= 1
        return transfer
    }

    /// Takes out a transfer that has not started; false if it isn't here.
    mutating func remove(_ transfer: CurlTransfer) -> Bool {
        let host = Host(transfer)
        guard take(transfer, of: host) != nil else { return false }
        waiting -= 1
        forgetIfIdle(host)
        return true
    }

    /// A transfer that has not started waits with another priority from now on; among its like it keeps its turn.
    mutating func prioritize(_ transfer: CurlTransfer, _ priority: LoadPriority) {
        let host = Host(transfer)
        guard let number = take(transfer, of: host), let line = lines[host]?.waiting[Int(priority.rawValue)] else {
            return
        }
        let place = line.firstIndex { $0.number > number } ?? line.endIndex
        lines[host]?.waiting[Int(priority.rawValue)].insert((number, transfer), at: place)
    }

    /// Takes a transfer out of its host's line, and says which number it had.
    private mutating func take(_ transfer: CurlTransfer, of host: Host) -> Int? {
        guard let line = lines[host] else { return nil }
        for priority in line.waiting.indices {
            guard let place = line.waiting[priority].firstIndex(where: { $0.transfer === transfer }) else { continue }
            return lines[host]?.waiting[priority].remove(at: place).number
        }
        return nil
    }

    /// A transfer that ran is over.
    mutating func release(_ transfer: CurlTransfer) {
        let host = Host(transfer)
        lines[host]?.running -= 1
        running -= 1
        forgetIfIdle(host)
    }

    /// This transfer's host takes many of its kind on one connection.
    mutating func sharesConnection(_ transfer: CurlTransfer) { lines[Host(transfer)]?.sharesConnections = true }

    /// Takes out all that wait.
    mutating func removeAll() -> [CurlTransfer] {
        let all = lines.values.flatMap { $0.waiting.flatMap { $0.map(\.transfer) } }
        for host in lines.keys { lines[host]?.waiting = Line().waiting }
        waiting = 0
        return all
    }

    private func limit(_ line: Line) -> Int {
        line.sharesConnections ? max(maximumPerHost, Self.maximumStreams) : maximumPerHost
    }

    private mutating func forgetIfIdle(_ host: Host) {
        guard let line = lines[host], line.running == 0, line.first == nil else { return }
        lines[host] = nil
    }
}
